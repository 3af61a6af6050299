package clics

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/standings"
	"deepoj/web/site"
	"deepoj/web/solve"
)

// Bounds of an archive of sources.
const (
	maxSources = 16
	maxUnpact  = 8 << 20 // bytes, unpacked
)

// files handles GET /clics/:version/contests/:round/submissions/:id/files, for those who run the round: an archive, which is
// the same each time.
func (s *Room) files(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || !a.sources() {
		return notThere()
	}
	job, err := s.Config.Rounds.Job(c.UserContext(), a.round.ID, number)
	if err != nil {
		return err
	}
	sub, err := s.Store.Submission(c.UserContext(), job)
	if err != nil {
		return err
	}
	packed, err := clics.PackSources(sub.Sources)
	if err != nil {
		return fmt.Errorf("pack submission %d: %w", job, err)
	}
	c.Set(fiber.HeaderContentType, "application/zip")
	c.Set(fiber.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="%d.zip"`, number))
	return c.Send(packed)
}

// sent is what a team hands in.
type sent struct {
	Language   string  `json:"language_id"`
	Problem    string  `json:"problem_id"`
	Team       *string `json:"team_id"`
	EntryPoint *string `json:"entry_point"`
	ID         *string `json:"id"`
	Time       *string `json:"time"`
	Files      []struct {
		Data string `json:"data"`
		Mime string `json:"mime"`
	} `json:"files"`
}

// submit handles POST /clics/:version/contests/:round/submissions, for teams.
func (s *Room) submit(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	if err := site.NeedJSON(c); err != nil {
		return err
	}
	v := site.ViewerOf(c)
	var in sent
	if err := json.Unmarshal(c.Body(), &in); err != nil {
		return badRequest("The body is not JSON: %v.", err)
	}
	switch {
	case in.ID != nil, in.Time != nil:
		return site.Refuse(fiber.StatusForbidden, "forbidden", "A team says neither the id nor the time of what it hands in.", "Leave id and time out.")
	case in.Team != nil && *in.Team != a.code:
		return site.Refuse(fiber.StatusForbidden, "forbidden", "Nobody hands in for another team.", "Leave team_id out.")
	case len(in.Files) != 1:
		return badRequest("files has to be a list of one archive, not of %d.", len(in.Files))
	}
	sources, err := unpack(in.Files[0].Data)
	if err != nil {
		return err
	}
	problem, err := s.problem(c, a, in.Problem)
	if err != nil {
		return err
	}
	language := ""
	offers, err := s.Catalog.Languages(c.UserContext())
	if err != nil {
		return err
	}
	for _, o := range offers {
		if clics.LanguageID(o.ID) == in.Language {
			language = o.ID
		}
	}
	if language == "" {
		return badRequest("There is no language %q.", site.Shorten(in.Language))
	}
	receipt, err := s.solve.Accept(c.UserContext(), v, solve.Program{
		Problem: problem, Language: language, Round: a.round.Code, Sources: sources,
		Fields: site.FieldNames{Problem: "problem_id", Language: "language_id", Source: "files", Key: "Idempotency-Key"},
	})
	if err != nil {
		return err
	}
	return s.told(c, a, receipt.JobID)
}

// told answers with a submission that was just handed in, as soon as the log tells of it.
func (s *Room) told(c *fiber.Ctx, a asker, job int64) error {
	w, err := s.feeds.Watch(a.round.ID, s.ClientAddress(c))
	if err == nil {
		defer w.Leave()
	}
	patience := time.NewTimer(5 * time.Second)
	defer patience.Stop()
	for {
		number, err := s.Config.Rounds.Number(c.UserContext(), job)
		if err != nil {
			return err
		}
		if number > 0 {
			id := strconv.FormatInt(number, 10)
			var raw json.RawMessage
			err := s.worlds.Look(c.UserContext(), a, func(w *clics.World, _ *clics.Teller) error {
				raw, _ = w.One(clics.TypeSubmissions, id)
				raw = bytes.Clone(raw)
				return nil
			})
			if err != nil {
				return err
			}
			if raw != nil {
				c.Set(fiber.HeaderLocation, path.Join(Path, string(a.form.Version), "contests", a.round.Code, "submissions", id))
				c.Status(fiber.StatusCreated)
				return answer(c, raw)
			}
		}
		poll := time.NewTimer(200 * time.Millisecond)
		select {
		case <-w.Woken():
		case <-poll.C:
		case <-patience.C:
			poll.Stop()
			return c.SendStatus(fiber.StatusAccepted) // it is handed in, and will be told of
		}
		poll.Stop()
	}
}

// problem is our short name of a problem that the asker sees.
func (s *Room) problem(c *fiber.Ctx, a asker, id string) (slug string, err error) {
	err = s.standings.Look(c.UserContext(), a.round.ID, a.view, func(v *standings.Standings) {
		for name := range v.Problems {
			if clics.ID(name) == id {
				slug = name
			}
		}
	})
	if err == nil && slug == "" {
		err = badRequest("The contest has no problem %q, or has not begun.", site.Shorten(id))
	}
	return slug, err
}

// unpack reads the sources of an archive in Base64. What the archive says of sizes is not believed.
func unpack(encoded string) ([]judge.Source, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, badRequest("files[0].data has to be Base64.")
	}
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, badRequest("files[0].data has to be a ZIP archive.")
	}
	var out []judge.Source
	left := int64(maxUnpact)
	for _, f := range r.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if len(out) == maxSources || !f.Mode().IsRegular() {
			return nil, badRequest("The archive has to hold from 1 to %d regular files.", maxSources)
		}
		text, err := readPart(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		out = append(out, judge.Source{Name: path.Base(f.Name), Text: string(text)})
	}
	if len(out) == 0 {
		return nil, badRequest("The archive has to hold from 1 to %d regular files.", maxSources)
	}
	return out, nil
}

func readPart(f *zip.File, most int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, badRequest("The archive cannot be read.")
	}
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, badRequest("The archive cannot be read.")
	case int64(len(text)) > most:
		return nil, badRequest("The files of the archive have more than %d bytes together.", int64(maxUnpact))
	}
	return text, nil
}
