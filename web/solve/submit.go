package solve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

const (
	defaultCodeKiB = 64 // a problem that sets no limit on sources
	maxSources     = 16 // files of one submission
)

// Program is a program as it came in, from a form or as JSON.
type Program struct {
	Problem, Language string
	Space             string // that it is handed in to; "" = none
	Round             string // that it is handed in to; "" = none
	Sources           []judge.Source
	Key               string // idempotency key; "" = none
	Turn              turn
	For               *Behalf // nil = it is the viewer's own
	Once              bool    // an unfinished submission of the same program is given instead of a new one
	Fields            site.FieldNames
}

// Behalf is for whom those who run a round hand in to it.
type Behalf struct {
	Participant string    // its code
	At          time.Time // when it counts as handed in; zero = now
	Number      int64     // that it gets in the round; 0 = the next
}

// turn is what staff may say about when a submission is judged.
type turn struct {
	Immediate bool   // in the first lane
	Priority  int    // higher goes first within the lane
	JobKey    string // replaces the unfinished submission of the same key, and keeps its place
}

// maxPriority bounds priorities in both directions.
const maxPriority = 1000

// readTurn reads the fields that only staff may send.
func readTurn(f *site.Fields, v site.Viewer) (t turn, err error) {
	for _, name := range []string{"immediate", "priority", "job_key"} {
		if f.Has(name) && !v.Staff() {
			fault := site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff may set this field.", "Leave it out.")
			fault.Field = name
			return t, fault
		}
	}
	if f.Has("immediate") && json.Unmarshal(f.Raw["immediate"], &t.Immediate) != nil {
		f.Wrong.Add(site.WrongField("immediate", site.ReasonWrong, "The field has to be a truth value, not %s.", site.KindOf(f.Raw["immediate"])))
	}
	if f.Has("priority") && json.Unmarshal(f.Raw["priority"], &t.Priority) != nil || t.Priority < -maxPriority || t.Priority > maxPriority {
		f.Wrong.Add(site.WrongField("priority", site.ReasonInvalid, "The field has to be a whole number from -%d to %d.", maxPriority, maxPriority))
	}
	if f.Has("job_key") {
		if t.JobKey = f.Text("job_key"); !site.PlainWord(t.JobKey) {
			f.Wrong.Add(site.WrongField("job_key", site.ReasonInvalid, "The key has to be 1 to 128 printable characters."))
		}
	}
	return t, nil
}

// The names of the fields of the original contract, of /api/v1 and of forms.
var (
	originalFields = site.FieldNames{Problem: "problem_id", Language: "language", Source: "code", Key: "Idempotency-Key"}
	V1Fields       = site.FieldNames{Problem: "problem", Language: "language", Source: "source", Key: "Idempotency-Key"}
	formFields     = site.FieldNames{Problem: "problem", Language: "language", Source: "source", Key: "key"}
)

// Accept checks a program and stores it. When it returns, the submission and its queue row are committed.
func (s *Room) Accept(ctx context.Context, v site.Viewer, in Program) (sql.Receipt, error) {
	receipt, err := s.store(ctx, v, in)
	status, reason := "stored", ""
	switch {
	case err != nil:
		status, reason = "refused", s.Explain(ctx, err).Reason
	case receipt.Existing:
		status = "repeated"
	}
	s.Count.Submits.WithLabelValues(status, reason).Inc()
	return receipt, err
}

func (s *Room) store(ctx context.Context, v site.Viewer, in Program) (sql.Receipt, error) {
	n, to, err := s.prepare(ctx, v, in)
	if err != nil {
		return sql.Receipt{}, err
	}
	receipt, err := s.SubmitJob(ctx, n)
	if err != nil {
		return sql.Receipt{}, in.Fields.Rename(to.fault(err))
	}
	return receipt, nil
}

// fault explains why a space or a round did not take a submission; other errors stay.
func (p place) fault(err error) error { return site.SpaceFault(roundFault(err, p), p.space) }

// prepare checks a program and returns what is to be stored, and where it goes.
func (s *Room) prepare(ctx context.Context, v site.Viewer, in Program) (n sql.NewJob, to place, err error) {
	if to, err = s.placeOf(ctx, v, in); err != nil {
		return n, to, err
	}
	offers, err := s.Catalog.Taking(ctx, in.Language)
	if err != nil {
		return n, to, err
	}
	wrong := append(CheckProgram(in, to.problem, offers), checkSpace(in, v, to.problem, to.space)...)
	if err := wrong.Err(); err != nil {
		return n, to, err
	}
	in.NameSources(offers)
	n = sql.NewJob{
		Problem: in.Problem, Language: in.Language, Author: v.Name, GroupKey: v.Name,
		IdempotencyKey: in.Key, TraceID: site.TraceOf(ctx), Sources: in.Sources,
		Kind: judge.KindSubmission, Priority: in.Turn.Priority, JobKey: in.Turn.JobKey,
	}
	if in.Turn.Immediate {
		n.Lane = judge.LaneStaff
	}
	if to.space != nil {
		n.Space, n.Unofficial = to.space.ID, people.Prepares(v.SpaceRole(to.space.Role))
	}
	if to.round != nil && in.For != nil {
		n.Author, n.GroupKey, n.Unofficial, n.At, n.Number = "", "", false, in.For.At, in.For.Number
	}
	if to.round != nil {
		n.Space, n.Round, n.Participant = 0, to.round.ID, to.entry.Participant // a round has its space
		cfg, err := contest.ParseConfig(contest.Format(to.round.Format), to.round.Settings)
		if err != nil {
			return n, to, fmt.Errorf("settings of round %s: %w", to.round.Code, err)
		}
		n.Apart, n.Most = cfg.Limits()
	}
	if in.Once {
		n.SpecHash, err = n.Spec()
	}
	return n, to, err
}

// CheckProgram returns everything that is wrong with a program. Problem is nil if there is none of that name.
func CheckProgram(in Program, problem *judge.Problem, offers []site.Offer) site.WrongFields {
	var wrong site.WrongFields
	limit := int64(defaultCodeKiB)
	if problem == nil {
		wrong.Add(site.WrongField(in.Fields.Problem, site.ReasonUnknown, "There is no problem %q.", site.Shorten(in.Problem)))
	} else if problem.CodeKiB > 0 {
		limit = problem.CodeKiB
	}
	wrong.Add(checkLanguage(in, problem, offers))
	for _, e := range checkSources(in, limit<<10) {
		wrong.Add(e)
	}
	wrong.Add(site.CheckKey(in.Fields.Key, in.Key))
	return wrong
}

func checkLanguage(in Program, problem *judge.Problem, offers []site.Offer) *judge.FieldError {
	if in.Language == "" {
		return site.WrongField(in.Fields.Language, site.ReasonEmpty, "Choose a language.")
	}
	at := slices.IndexFunc(offers, func(o site.Offer) bool { return o.ID == in.Language })
	switch {
	case at < 0 && !slices.ContainsFunc(offers, site.Offer.Open):
		return site.WrongField(in.Fields.Language, string(judge.ReasonNoLiveWorker),
			"No worker has said yet which languages there are, so %q is not taken. Start the first one with `deepoj worker`.", site.Shorten(in.Language))
	case at < 0:
		return site.WrongField(in.Fields.Language, site.ReasonUnknown, "There is no language %q; there are %s.", site.Shorten(in.Language), openIDs(offers))
	case problem != nil && !allows(problem, in.Language):
		return site.WrongField(in.Fields.Language, "not_allowed", "This problem takes only %s.", judge.Names(problem.Languages))
	case !offers[at].Open():
		return site.WrongField(in.Fields.Language, string(offers[at].Reason), "%s is not taken: %s", offers[at].Name, offers[at].Why)
	}
	return nil
}

// allows reports whether a problem may be solved in a language. Answers are taken only by a problem that says so.
func allows(p *judge.Problem, language string) bool {
	return len(p.Languages) == 0 && language != judge.AnswerLanguage || slices.Contains(p.Languages, language)
}

func openIDs(offers []site.Offer) (ids judge.Names) {
	for _, o := range offers {
		if o.Open() {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

func checkSources(in Program, limit int64) []*judge.FieldError {
	if len(in.Sources) == 0 {
		return []*judge.FieldError{site.WrongField(in.Fields.Source, site.ReasonEmpty, "There is no program.")}
	}
	if len(in.Sources) > maxSources {
		return []*judge.FieldError{site.WrongField("sources", "too_many", "There are %d files; at most %d are taken.", len(in.Sources), maxSources)}
	}
	var wrong site.WrongFields
	var total int64
	names := map[string]bool{}
	for i, source := range in.Sources {
		field := in.Fields.Source
		if len(in.Sources) > 1 {
			field = fmt.Sprintf("sources[%d]", i)
		}
		total += int64(len(source.Text))
		wrong.Add(checkText(field, source.Text))
		wrong.Add(site.CheckFileName(field, source.Name, names, len(in.Sources) > 1))
	}
	if total > limit {
		wrong.Add(site.WrongField(in.Fields.Source, site.ReasonTooLong, "The program has %s; this problem takes at most %s.",
			exactBytes(total), locale.Bytes(limit)))
	}
	return wrong
}

// exactBytes is a size to the byte, for a sentence.
func exactBytes(n int64) locale.Sentence { return locale.Sentence{Key: "%d bytes", Args: []any{n}} }

func checkText(field, text string) *judge.FieldError {
	switch {
	case strings.TrimSpace(text) == "":
		return site.WrongField(field, site.ReasonEmpty, "The program is empty.")
	case strings.ContainsRune(text, 0):
		line := 1 + strings.Count(text[:strings.IndexByte(text, 0)], "\n")
		return site.WrongField(field, site.ReasonNUL, "Line %d has a NUL byte; send source text, not a compiled file.", line)
	case !utf8.ValidString(text):
		return site.WrongField(field, site.ReasonEncoding, "The program is not UTF-8 text; save it as UTF-8.")
	}
	return nil
}

// NameSources gives sources that came without a file name the one that the language knows.
func (in *Program) NameSources(offers []site.Offer) {
	name := "main"
	for _, o := range offers {
		if o.ID == in.Language && len(o.Extensions) > 0 {
			name = "main." + o.Extensions[0]
		}
	}
	for i := range in.Sources {
		if in.Sources[i].Name == "" {
			in.Sources[i].Name = name
		}
	}
}

// apiSubmitOriginal handles POST /submit, the original contract.
func (s *Room) apiSubmitOriginal(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "problem_id", "language", "code")
	if err != nil {
		return err
	}
	in := Program{
		Problem: f.Text("problem_id"), Language: f.Text("language"),
		Sources: []judge.Source{{Text: f.Text("code")}}, Key: c.Get("Idempotency-Key"), Fields: originalFields,
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	receipt, err := s.Accept(c.UserContext(), site.ViewerOf(c), in)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"job_id": receipt.JobID})
}

// programFields are the fields of a program that is handed in.
var programFields = []string{"problem", "space", "round", "language", "source", "sources", "once", "immediate", "priority", "job_key"}

// readProgram reads the fields of a program.
func readProgram(f *site.Fields, v site.Viewer, key string) (Program, error) {
	turn, err := readTurn(f, v)
	if err != nil {
		return Program{}, err
	}
	in := Program{Turn: turn, Problem: f.Text("problem"), Language: f.Text("language"), Key: key, Fields: V1Fields}
	if f.Has("space") {
		if in.Space = f.Text("space"); in.Space == "" {
			f.Wrong.Add(site.WrongField("space", site.ReasonEmpty, "Name the space, or leave the field out."))
		}
	}
	if f.Has("round") {
		if in.Round = f.Text("round"); in.Round == "" {
			f.Wrong.Add(site.WrongField("round", site.ReasonEmpty, "Name the round, or leave the field out."))
		}
	}
	if f.Has("once") && json.Unmarshal(f.Raw["once"], &in.Once) != nil {
		f.Wrong.Add(site.WrongField("once", site.ReasonWrong, "The field has to be a truth value, not %s.", site.KindOf(f.Raw["once"])))
	}
	in.Sources = f.Program()
	return in, f.Wrong.Err()
}

// Receipt is what programs are told of a submission that they handed in.
type Receipt struct {
	JobID    int64  `json:"job_id"`
	URL      string `json:"url"`
	Existing bool   `json:"existing"`
}

func publicReceipt(r sql.Receipt) Receipt {
	return Receipt{r.JobID, site.SubmissionURL(r.JobID), r.Existing}
}

// apiSubmit handles POST /api/v1/submissions.
func (s *Room) apiSubmit(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, programFields...)
	if err != nil {
		return err
	}
	in, err := readProgram(f, site.ViewerOf(c), c.Get("Idempotency-Key"))
	if err != nil {
		return err
	}
	receipt, err := s.Accept(c.UserContext(), site.ViewerOf(c), in)
	if err != nil {
		return err
	}
	status := fiber.StatusCreated
	if receipt.Existing {
		status = fiber.StatusOK
	}
	c.Set(fiber.HeaderLocation, "/api/v1"+site.SubmissionURL(receipt.JobID))
	return c.Status(status).JSON(publicReceipt(receipt))
}

// placeOf looks up the problem that a program is for, and the space or round that it is handed in to, if any. There is no
// problem that the viewer may not see.
func (s *Room) placeOf(ctx context.Context, v site.Viewer, in Program) (p place, err error) {
	switch {
	case in.Round != "":
		return s.roundOf(ctx, v, in)
	case in.Space != "":
		d, err := s.Desk(ctx, v, in.Space, in.Problem)
		if err != nil {
			return p, err
		}
		return place{problem: d.Problem, space: &d.Space}, nil
	case !site.PlainWord(in.Problem):
		return p, nil
	}
	problem, err := s.Store.Problem(ctx, in.Problem)
	if err == nil && problem.Hidden {
		var seen bool
		if seen, err = s.Sees(ctx, v, problem); !seen {
			return p, err
		}
	}
	if errors.Is(err, sql.ErrNotFound) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("look up problem: %w", err)
	}
	p.problem = problem
	return p, nil
}

// checkSpace returns what a space has against a program, besides when it comes. Space is nil outside of spaces.
func checkSpace(in Program, v site.Viewer, problem *judge.Problem, space *judge.Space) (wrong site.WrongFields) {
	if space == nil {
		if problem != nil && problem.Hidden && !v.Setter() {
			wrong.Add(site.WrongField("space", site.ReasonMissing, "This problem is not open to all; name the space that it is handed in to."))
		}
		return wrong
	}
	if people.Prepares(v.SpaceRole(space.Role)) {
		return nil
	}
	if len(space.Languages) > 0 && in.Language != "" && !slices.Contains(space.Languages, in.Language) {
		wrong.Add(site.WrongField(in.Fields.Language, "not_allowed", "%s takes only %s.", space.Title, judge.Names(space.Languages)))
	}
	total := int64(0)
	for _, source := range in.Sources {
		total += int64(len(source.Text))
	}
	if limit := int64(space.MaxSourceKiB) << 10; limit > 0 && total > limit {
		wrong.Add(site.WrongField(in.Fields.Source, site.ReasonTooLong, "The program has %s; %s takes at most %s.", exactBytes(total), space.Title, locale.Bytes(limit)))
	}
	return wrong
}
