package clics

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/standings"
	"deepoj/sql/rounds"
	"deepoj/web/site"
	"deepoj/web/statement"
)

// answer sends JSON that is written already.
func answer(c *fiber.Ctx, raw []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(raw)
}

// list writes a list of objects that are written already.
func list(all []json.RawMessage) []byte {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, raw := range all {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(raw)
	}
	out.WriteByte(']')
	return out.Bytes()
}

// newest handles GET /clics and GET /clics/contests/*, which are those of the newest release.
func (s *Room) newest(c *fiber.Ctx) error {
	to := strings.Replace(c.OriginalURL(), Path, Path+"/"+string(clics.Versions[0]), 1)
	return c.Redirect(to, fiber.StatusTemporaryRedirect)
}

// information handles GET /clics/:version.
func (s *Room) information(c *fiber.Ctx) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	return c.JSON(struct {
		Version  clics.Version `json:"version"`
		URL      string        `json:"version_url"`
		Provider any           `json:"provider"`
	}{f.Version, "https://ccs-specs.icpc.io/" + string(f.Version) + "/contest_api", fiber.Map{"name": "Deep-OJ", "version": s.Config.Version}})
}

// contests handles GET /clics/:version/contests: those that whoever asks may see, newest first.
func (s *Room) contests(c *fiber.Ctx) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	v := site.ViewerOf(c)
	found, err := s.Config.Rounds.Rounds(c.UserContext(), rounds.Filter{Viewer: v.Name, All: v.Staff(), Limit: maxContests})
	if err != nil {
		return err
	}
	ids := make([]int64, len(found))
	for i, r := range found {
		ids[i] = r.ID
	}
	told, err := s.Config.Rounds.Told(c.UserContext(), ids)
	if err != nil {
		return err
	}
	all := []json.RawMessage{}
	for _, r := range found {
		teller := clics.NewTeller(f, nil, false)
		data, there := told[r.ID]
		if !there {
			continue // it is told of in a moment
		}
		events, _, err := teller.Tell(clics.Line{Kind: contest.KindRound, Object: r.Code, Data: data})
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Type == clics.TypeContest {
				all = append(all, e.Data)
			}
		}
	}
	return answer(c, list(all))
}

// one handles GET /clics/:version/contests/:round, and the other endpoints with one object.
func (s *Room) one(kind string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		a, err := s.ask(c)
		if err != nil {
			return err
		}
		return s.look(c, a, func(w *clics.World) ([]byte, error) {
			raw, ok := w.One(kind, "")
			if !ok {
				return nil, notThere()
			}
			return raw, nil
		})
	}
}

// look answers with what get makes of what there is. A round that is no contest is not there.
func (s *Room) look(c *fiber.Ctx, a asker, get func(*clics.World) ([]byte, error)) error {
	var out []byte
	err := s.worlds.Look(c.UserContext(), a, func(w *clics.World, t *clics.Teller) error {
		if !t.IsContest() {
			return notThere()
		}
		raw, err := get(w)
		out = slices.Clone(raw)
		return err
	})
	if err != nil {
		return err
	}
	return answer(c, out)
}

// collections are the types of which there are many.
var collections = slices.DeleteFunc(slices.Clone(clics.Types), func(t string) bool { return t == clics.TypeContest || t == clics.TypeState })

// all handles GET /clics/:version/contests/:round/:type, with filters by the properties that name other objects.
func (s *Room) all(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	kind := c.Params("type")
	if !slices.Contains(collections, kind) {
		return notThere()
	}
	return s.look(c, a, func(w *clics.World) ([]byte, error) {
		return list(filtered(w.All(kind), c.Queries())), nil
	})
}

// filtered are the objects whose properties are as the parameters say: those that end in _id, or lists of such.
func filtered(all []json.RawMessage, by map[string]string) []json.RawMessage {
	for name, want := range by {
		if !strings.HasSuffix(name, "_id") {
			continue
		}
		all = slices.DeleteFunc(slices.Clone(all), func(raw json.RawMessage) bool {
			var object map[string]any
			if json.Unmarshal(raw, &object) != nil {
				return true
			}
			if several, ok := object[name+"s"].([]any); ok {
				return !slices.Contains(several, any(want))
			}
			return object[name] != want && (want != "" || object[name] != nil)
		})
	}
	return all
}

// byID handles GET /clics/:version/contests/:round/:type/:id.
func (s *Room) byID(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	kind, id := c.Params("type"), c.Params("id")
	return s.look(c, a, func(w *clics.World) ([]byte, error) {
		raw, ok := w.One(kind, id)
		if !ok || !slices.Contains(collections, kind) {
			return nil, notThere()
		}
		return raw, nil
	})
}

// logo handles GET /clics/:version/contests/:round/organizations/:id/:file, for whoever is told of the organization.
func (s *Room) logo(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	id, name, told := c.Params("id"), c.Params("file"), false
	err = s.worlds.Look(c.UserContext(), a, func(w *clics.World, t *clics.Teller) error {
		raw, ok := w.One(clics.TypeOrganizations, id)
		var o clics.Organization
		if ok && t.IsContest() && json.Unmarshal(raw, &o) == nil {
			told = slices.ContainsFunc(o.Logo, func(p clics.Picture) bool { return p.Filename == name })
		}
		return nil
	})
	if err == nil && !told {
		err = notThere()
	}
	if err != nil {
		return err
	}
	l, data, err := s.Config.Rounds.Logo(c.UserContext(), a.round.SpaceID, id, name)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, l.Media)
	c.Set(fiber.HeaderContentSecurityPolicy, statement.PictureCSP)
	return c.Send(data)
}

// problemFile handles GET /clics/:version/contests/:round/problems/:id/:file: a statement or an attachment, for whoever is told of the
// problem.
func (s *Room) problemFile(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	var found *judge.ProblemFile
	err = s.standings.Look(c.UserContext(), a.round.ID, a.view, func(v *standings.Standings) {
		for slug, d := range v.Problems {
			if clics.ID(slug) != c.Params("id") {
				continue
			}
			if i := slices.Index(clics.FileNames(d), c.Params("file")); i >= 0 {
				found = &slices.Concat(d.Statement, d.Attachments)[i]
			}
		}
	})
	if err != nil {
		return err
	}
	if found == nil {
		return notThere()
	}
	if found.Statement {
		err = statement.SendDocument(s.Site, c, &judge.PageFile{Type: "application/pdf", Digest: found.Digest, Bytes: found.Bytes})
	} else {
		err = statement.SendAttachment(s.Site, c, *found, c.Params("file"))
	}
	if errors.Is(err, blob.ErrNotFound) { // it did not come with the contest
		return notThere()
	}
	return err
}

// scoreboard handles GET /clics/:version/contests/:round/scoreboard?group_id=.
func (s *Room) scoreboard(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	group := c.Query("group_id")
	var out clics.Scoreboard
	var wrong error
	err = s.standings.Look(c.UserContext(), a.round.ID, a.view, func(v *standings.Standings) {
		_, known := v.Groups[group]
		switch {
		case v.Round.Duration == nil || group != "" && !known:
			wrong = notThere()
		case a.view != standings.Staff && v.Hidden():
			wrong = site.Refuse(fiber.StatusForbidden, "board_hidden", "The board of this round is not shown before its end.", "")
		default:
			out = a.form.ScoreboardOf(v.State.Board(contest.Query{Group: group}), v.Round, v.Config, v.Round.Clock(), v.Told, func(id int64) string { return v.Participants[id].Code })
		}
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return err
	}
	return c.JSON(out)
}

// account handles GET /clics/:version/contests/:round/account: who asks.
func (s *Room) account(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	v := site.ViewerOf(c)
	if !v.Known() || v.Guest() {
		return notThere()
	}
	kind := "other"
	switch a.view {
	case standings.Staff:
		kind = "admin"
	case standings.Teams:
		kind = "team"
	case standings.Public:
	}
	out := clics.Account{ID: clics.ID(v.Name), Username: v.Name, Type: kind}
	if a.code != "" {
		out.Team = &a.code
	}
	return c.JSON(out)
}

// access handles GET /clics/:version/contests/:round/access: what who asks may see and do.
func (s *Room) access(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	type endpoint struct {
		Type       string   `json:"type"`
		Properties []string `json:"properties"`
	}
	out := struct {
		Capabilities []string   `json:"capabilities"`
		Endpoints    []endpoint `json:"endpoints"`
	}{Capabilities: []string{}}
	switch a.view {
	case standings.Teams:
		out.Capabilities = append(out.Capabilities, "team_submit", "post_clar")
	case standings.Staff:
		out.Capabilities = append(out.Capabilities, "contest_start", "contest_thaw", "post_clar", "post_comment", "proxy_submit", "proxy_clar", "admin_submit", "admin_clar")
	case standings.Public:
	}
	for _, kind := range clics.Types {
		out.Endpoints = append(out.Endpoints, endpoint{kind, a.properties(kind)})
	}
	return c.JSON(out)
}

// properties are those that an object of a type may have for who asks.
func (a asker) properties(kind string) (names []string) {
	object := reflect.TypeOf(clics.Objects[kind])
	for field := range object.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		source := kind == clics.TypeSubmissions && (name == "files" || name == "entry_point")
		if (!source || a.sources()) && a.form.Knows(kind, name) {
			names = append(names, name)
		}
	}
	return names
}
