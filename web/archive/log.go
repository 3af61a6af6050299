package archive

import (
	"bytes"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/people"
	"deepoj/host/restore"
	"deepoj/web/site"
)

// Bounds of a log that is given out.
const (
	linesAtOnce = 10_000
	maxLog      = 256 << 20 // bytes
)

// apiLog handles GET /api/v1/rounds/:round/log.
func (s *Room) apiLog(c *fiber.Ctx) error {
	r, _, err := s.RoundCalled(c, c.Params("round"), people.ManageSpace)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	var portable restore.Portable
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	for seq := int64(0); ; {
		found, err := s.Config.Rounds.Log(c.UserContext(), r.ID, seq, linesAtOnce)
		if err != nil {
			return err
		}
		for _, l := range found {
			seq = l.Seq
			line, err := portable.Line(l)
			if err == nil {
				err = lines.Encode(line)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case out.Len() > maxLog:
			return site.Refuse(fiber.StatusUnprocessableEntity, "too_long", "The log is too long to be given out at once.", "")
		case len(found) < linesAtOnce:
			c.Set(fiber.HeaderContentType, "application/x-ndjson")
			return c.Send(out.Bytes())
		}
	}
}
