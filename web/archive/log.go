package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest/clics"
	"deepoj/host/people"
	"deepoj/host/restore"
	"deepoj/sql"
	"deepoj/web/site"
)

// Bounds of a log that is given out.
const (
	linesAtOnce = 10_000
	maxLog      = 256 << 20 // bytes, also of all sources
)

// apiLog handles GET /api/v1/rounds/:round/log.
func (s *Room) apiLog(c *fiber.Ctx) error {
	r, _, err := s.RoundCalled(c, c.Params("round"), people.ManageSpace)
	if err != nil {
		return err
	}
	done, err := s.turn(c.UserContext())
	if err != nil {
		return err
	}
	defer done()
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

// apiSources handles GET /api/v1/rounds/:round/sources.
func (s *Room) apiSources(c *fiber.Ctx) error {
	r, _, err := s.RoundCalled(c, c.Params("round"), people.ManageSpace)
	if err != nil {
		return err
	}
	done, err := s.turn(c.UserContext())
	if err != nil {
		return err
	}
	defer done()
	all, bytesIn := clics.Package{}, 0
	for after := int64(0); ; {
		jobs, numbers, err := s.Config.Rounds.Numbers(c.UserContext(), r.ID, after, linesAtOnce)
		if err != nil {
			return err
		}
		for i, job := range jobs {
			after = numbers[i]
			sub, err := s.Store.Submission(c.UserContext(), job)
			if errors.Is(err, sql.ErrNotFound) {
				continue // it was retired meanwhile
			}
			if err != nil {
				return err
			}
			packed, err := clics.PackSources(sub.Sources)
			if err != nil {
				return fmt.Errorf("pack submission %d: %w", job, err)
			}
			if bytesIn += len(packed); bytesIn > maxLog {
				return site.Refuse(fiber.StatusUnprocessableEntity, "too_long", "The sources are too many to be given out at once.", "")
			}
			all[fmt.Sprintf("submissions/%d/files.zip", numbers[i])] = packed
		}
		if len(jobs) < linesAtOnce {
			break
		}
	}
	var out bytes.Buffer
	if err := all.Write(&out); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "application/zip")
	c.Set(fiber.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="%s-sources.zip"`, r.Code))
	return c.Send(out.Bytes())
}
