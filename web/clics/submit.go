package clics

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/standings"
	"deepoj/sql"
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
	Language    string        `json:"language_id"`
	Problem     string        `json:"problem_id"`
	Team        *string       `json:"team_id"`
	EntryPoint  *string       `json:"entry_point"`
	ID          *string       `json:"id"`
	Time        *clics.Moment `json:"time"`
	ContestTime *string       `json:"contest_time"`
	Files       []struct {
		Data string `json:"data"`
		Mime string `json:"mime"`
	} `json:"files"`
}

// submit handles POST /clics/:version/contests/:round/submissions, of teams for themselves, and of who runs the round for teams,
// where time says when it was handed in.
func (s *Room) submit(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	var in sent
	if err := readObject(c, &in); err != nil {
		return err
	}
	program := solve.Program{Round: a.round.Code, Fields: site.FieldNames{Problem: "problem_id", Language: "language_id", Source: "files", Key: "Idempotency-Key"}}
	switch {
	case in.ID != nil:
		return site.Refuse(fiber.StatusForbidden, "forbidden", "The server gives the id.", "Leave id out, or use PUT on the address of the submission.")
	case a.view == standings.Staff:
		if program.For, err = s.behalf(c, a, in); err != nil {
			return err
		}
	case in.Time != nil, in.ContestTime != nil:
		return site.Refuse(fiber.StatusForbidden, "forbidden", "A team does not say when it hands in.", "Leave time out.")
	case in.Team != nil && *in.Team != a.code:
		return site.Refuse(fiber.StatusForbidden, "forbidden", "Nobody hands in for another team.", "Leave team_id out.")
	}
	return s.accept(c, a, in, program)
}

// put handles PUT /clics/:version/contests/:round/submissions/:id, of who runs the round. The same once more is the same.
func (s *Room) put(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	if err := staffOnly(a); err != nil {
		return err
	}
	var in sent
	if err := readObject(c, &in); err != nil {
		return err
	}
	id := c.Params("id")
	number, err := strconv.ParseInt(id, 10, 64)
	switch {
	case in.ID == nil || *in.ID != id:
		return site.Refuse(fiber.StatusConflict, "other_id", "The id in the body is another one than in the address.", "")
	case err != nil || number < 1 || number > 1<<53 || strconv.FormatInt(number, 10) != id:
		return badRequest("Here the id of a submission is a number from 1 on, not %q.", site.Shorten(id))
	case in.Time == nil:
		return badRequest("time has to say when it was handed in.")
	}
	program := solve.Program{Round: a.round.Code, Fields: site.FieldNames{Problem: "problem_id", Language: "language_id", Source: "files", Key: "Idempotency-Key"}}
	if program.For, err = s.behalf(c, a, in); err != nil {
		return err
	}
	program.For.Number = number
	job, err := s.Config.Rounds.Job(c.UserContext(), a.round.ID, number)
	switch {
	case err == nil:
		return s.again(c, a, job, in)
	case !errors.Is(err, sql.ErrNotFound):
		return err
	}
	return s.accept(c, a, in, program)
}

// again answers who puts a submission that is there: with it, if it is the same.
func (s *Room) again(c *fiber.Ctx, a asker, job int64, in sent) error {
	sub, err := s.Store.Submission(c.UserContext(), job)
	if err != nil {
		return err
	}
	sources, err := in.sources()
	if err != nil {
		return err
	}
	same := slices.EqualFunc(sources, sub.Sources, func(a, b judge.Source) bool { return a.Text == b.Text }) && clics.ID(sub.Problem) == in.Problem && clics.LanguageID(sub.Language) == in.Language
	if !same {
		return site.Refuse(fiber.StatusConflict, "exists", "There is another submission of this id, and what was handed in stays.", "Use another id.")
	}
	return s.told(c, a, job)
}

// behalf is for whom, and when, who runs the round hands in.
func (s *Room) behalf(c *fiber.Ctx, a asker, in sent) (*solve.Behalf, error) {
	if in.Team == nil {
		return nil, badRequest("team_id has to say for whom it is handed in.")
	}
	if err := s.knownTeam(c, a, *in.Team); err != nil {
		return nil, err
	}
	out := &solve.Behalf{Participant: *in.Team}
	if in.Time != nil {
		if out.At = in.Time.UTC().Truncate(time.Millisecond); out.At.After(time.Now()) {
			return nil, badRequest("time is to come: what is handed in was handed in.")
		}
	}
	return out, nil
}

// knownTeam refuses a team that takes no part.
func (s *Room) knownTeam(c *fiber.Ctx, a asker, code string) error {
	known := false
	err := s.standings.Look(c.UserContext(), a.round.ID, a.view, func(v *standings.Standings) {
		for _, p := range v.Participants {
			known = known || p.Code == code
		}
	})
	if err == nil && !known {
		err = badRequest("The contest has no team %q.", site.Shorten(code))
	}
	return err
}

// sources are the sources of the only archive of a submission.
func (in *sent) sources() ([]judge.Source, error) {
	if len(in.Files) != 1 {
		return nil, badRequest("files has to be a list of one archive, not of %d.", len(in.Files))
	}
	if mime := in.Files[0].Mime; mime != "" && mime != "application/zip" {
		return nil, badRequest("files[0].mime has to be application/zip.")
	}
	return unpack(in.Files[0].Data)
}

// accept hands in what was sent, and answers with it.
func (s *Room) accept(c *fiber.Ctx, a asker, in sent, program solve.Program) (err error) {
	if program.Sources, err = in.sources(); err != nil {
		return err
	}
	if program.Problem, err = s.problem(c, a, in.Problem); err != nil {
		return err
	}
	offers, err := s.Catalog.Languages(c.UserContext())
	if err != nil {
		return err
	}
	for _, o := range offers {
		if clics.LanguageID(o.ID) == in.Language {
			program.Language = o.ID
		}
	}
	if program.Language == "" {
		return badRequest("There is no language %q.", site.Shorten(in.Language))
	}
	receipt, err := s.solve.Accept(c.UserContext(), site.ViewerOf(c), program)
	if err != nil {
		return err
	}
	return s.told(c, a, receipt.JobID)
}

// told answers with a submission that was just handed in, as soon as the log tells of it.
func (s *Room) told(c *fiber.Ctx, a asker, job int64) error {
	id := ""
	return s.await(c, a, func(w *clics.World) (string, json.RawMessage, error) {
		if id == "" {
			number, err := s.Config.Rounds.Number(c.UserContext(), job)
			if err != nil || number == 0 {
				return "", nil, err
			}
			id = strconv.FormatInt(number, 10)
		}
		raw, _ := w.One(clics.TypeSubmissions, id)
		return path.Join(clics.TypeSubmissions, id), raw, nil
	})
}

// await answers with what find finds, and where that is, as soon as the log tells of it. "" is the contest itself, which is not new.
func (s *Room) await(c *fiber.Ctx, a asker, find func(*clics.World) (string, json.RawMessage, error)) error {
	w, err := s.feeds.Watch(a.round.ID, s.ClientAddress(c))
	if err == nil {
		defer w.Leave()
	}
	patience := time.NewTimer(5 * time.Second)
	defer patience.Stop()
	for {
		var raw json.RawMessage
		var where string
		err := s.worlds.Look(c.UserContext(), a, func(w *clics.World, _ *clics.Teller) (err error) {
			where, raw, err = find(w)
			raw = bytes.Clone(raw)
			return err
		})
		switch {
		case err != nil:
			return err
		case raw != nil && where == "":
			return answer(c, raw)
		case raw != nil:
			c.Set(fiber.HeaderLocation, path.Join(Path, string(a.form.Version), "contests", a.round.Code, where))
			if c.Method() != fiber.MethodPatch {
				c.Status(fiber.StatusCreated)
			}
			return answer(c, raw)
		}
		poll := time.NewTimer(200 * time.Millisecond)
		select {
		case <-w.Woken():
		case <-poll.C:
		case <-patience.C:
			poll.Stop()
			return c.SendStatus(fiber.StatusAccepted) // it is stored, and will be told of
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
