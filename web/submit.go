package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

const (
	defaultCodeKiB = 64  // a problem that sets no limit on sources
	maxSources     = 16  // files of one submission
	maxFileName    = 64  // bytes
	maxKey         = 200 // bytes of an idempotency key
)

// handIn is a program as it came in, from a form or as JSON.
type handIn struct {
	Problem, Language string
	Space             string // that it is handed in to; "" = none
	Sources           []judge.Source
	Key               string // idempotency key; "" = none
	Turn              turn
	Once              bool // an unfinished submission of the same program is given instead of a new one
	fields            fieldNames
}

// turn is what staff may say about when a submission is judged.
type turn struct {
	Immediate bool   // in the first lane
	Priority  int    // higher goes first within the lane
	JobKey    string // replaces the unfinished submission of the same key, and keeps its place
}

// maxPriority bounds priorities in both directions.
const maxPriority = 1000

// turn reads the fields that only staff may send.
func (f *fields) turn(v viewer) (t turn, err error) {
	for _, name := range []string{"immediate", "priority", "job_key"} {
		if f.has(name) && !v.Staff() {
			fault := refuse(fiber.StatusForbidden, "forbidden", "Only staff may set this field.", "Leave it out.")
			fault.Field = name
			return t, fault
		}
	}
	if f.has("immediate") && json.Unmarshal(f.raw["immediate"], &t.Immediate) != nil {
		f.wrong.add(wrongField("immediate", reasonWrong, "The field has to be a truth value, not %s.", kindOf(f.raw["immediate"])))
	}
	if f.has("priority") && json.Unmarshal(f.raw["priority"], &t.Priority) != nil || t.Priority < -maxPriority || t.Priority > maxPriority {
		f.wrong.add(wrongField("priority", reasonInvalid, "The field has to be a whole number from -%d to %d.", maxPriority, maxPriority))
	}
	if f.has("job_key") {
		if t.JobKey = f.text("job_key"); !plainWord(t.JobKey) {
			f.wrong.add(wrongField("job_key", reasonInvalid, "The key has to be 1 to 128 printable characters."))
		}
	}
	return t, nil
}

// fieldNames are what the caller calls the fields.
type fieldNames struct{ problem, language, source, key string }

var (
	originalFields = fieldNames{"problem_id", "language", "code", "Idempotency-Key"}
	v1Fields       = fieldNames{"problem", "language", "source", "Idempotency-Key"}
	formFields     = fieldNames{"problem", "language", "source", "key"}
)

// accept checks a program and stores it. When it returns, the submission and its
// queue row are committed.
func (s *Server) accept(ctx context.Context, v viewer, in handIn) (sql.Receipt, error) {
	receipt, err := s.store1(ctx, v, in)
	status, reason := "stored", ""
	switch {
	case err != nil:
		status, reason = "refused", s.explain(ctx, err).Reason
	case receipt.Existing:
		status = "repeated"
	}
	s.count.submits.WithLabelValues(status, reason).Inc()
	return receipt, err
}

func (s *Server) store1(ctx context.Context, v viewer, in handIn) (sql.Receipt, error) {
	n, space, err := s.prepare(ctx, v, in)
	if err != nil {
		return sql.Receipt{}, err
	}
	receipt, err := s.hand(ctx, n)
	if err != nil {
		return sql.Receipt{}, in.fields.rename(spaceFault(err, space))
	}
	return receipt, nil
}

// prepare checks a program and returns what is to be stored, and the space that it
// goes to, if any.
func (s *Server) prepare(ctx context.Context, v viewer, in handIn) (n sql.NewSubmission, space *sql.Space, err error) {
	problem, space, err := s.problemOf(ctx, v, in)
	if err != nil {
		return n, nil, err
	}
	offers, err := s.catalog.taking(ctx, in.Language)
	if err != nil {
		return n, nil, err
	}
	wrong := append(checkHandIn(in, problem, offers), checkSpace(in, v, problem, space)...)
	if err := wrong.err(); err != nil {
		return n, nil, err
	}
	for i := range in.Sources {
		if in.Sources[i].Name == "" {
			in.Sources[i].Name = defaultName(offers, in.Language)
		}
	}
	n = sql.NewSubmission{
		Problem: in.Problem, Language: in.Language, Author: v.Name, GroupKey: v.Name,
		IdempotencyKey: in.Key, TraceID: traceOf(ctx), Sources: in.Sources,
		Kind: judge.KindSubmission, Lane: judge.LaneNormal,
		Immediate: in.Turn.Immediate, Priority: in.Turn.Priority, JobKey: in.Turn.JobKey,
	}
	if space != nil {
		n.Space, n.Unofficial = space.ID, prepares(v.spaceRole(space.Role))
	}
	if in.Once {
		n.SpecHash, err = n.Spec()
	}
	return n, space, err
}

// rename gives a field error of the store the name that the caller knows.
func (n fieldNames) rename(err error) error {
	var field *judge.FieldError
	if !errors.As(err, &field) {
		return fmt.Errorf("submit: %w", err)
	}
	names := map[string]string{
		"problem": n.problem, "language": n.language, "source": n.source, "sources": n.source,
		"idempotency_key": n.key, "key": n.key,
	}
	renamed := *field
	if name, ok := names[field.Field]; ok {
		renamed.Field = name
	}
	return &renamed
}

// checkHandIn returns everything that is wrong with a program. Problem is nil if
// there is none of that name.
func checkHandIn(in handIn, problem *judge.Problem, offers []offer) wrongFields {
	var wrong wrongFields
	limit := int64(defaultCodeKiB)
	if problem == nil {
		wrong.add(wrongField(in.fields.problem, reasonUnknown, "There is no problem %q.", shorten(in.Problem)))
	} else if problem.CodeKiB > 0 {
		limit = problem.CodeKiB
	}
	wrong.add(checkLanguage(in, problem, offers))
	for _, e := range checkSources(in, limit<<10) {
		wrong.add(e)
	}
	wrong.add(checkKey(in.fields.key, in.Key))
	return wrong
}

// checkKey checks an idempotency key.
func checkKey(field, key string) *judge.FieldError {
	if len(key) <= maxKey && !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil
	}
	return wrongField(field, reasonInvalid, "The key has to be at most %d printable ASCII characters.", maxKey)
}

func checkLanguage(in handIn, problem *judge.Problem, offers []offer) *judge.FieldError {
	if in.Language == "" {
		return wrongField(in.fields.language, reasonEmpty, "Choose a language.")
	}
	at := slices.IndexFunc(offers, func(o offer) bool { return o.ID == in.Language })
	switch {
	case at < 0 && !slices.ContainsFunc(offers, offer.Open):
		return wrongField(in.fields.language, string(judge.ReasonNoLiveWorker),
			"No worker has said yet which languages there are, so %q is not taken. Start the first one with `deepoj worker`.", shorten(in.Language))
	case at < 0:
		return wrongField(in.fields.language, reasonUnknown, "There is no language %q; there are %s.", shorten(in.Language), openIDs(offers))
	case problem != nil && !allows(problem, in.Language):
		return wrongField(in.fields.language, "not_allowed", "This problem takes only %s.", strings.Join(problem.Languages, ", "))
	case !offers[at].Open():
		return wrongField(in.fields.language, string(offers[at].Reason), "%s is not taken: %s", offers[at].Name, offers[at].Why)
	}
	return nil
}

// allows reports whether a problem may be solved in a language. Answers are taken
// only by a problem that says so.
func allows(p *judge.Problem, language string) bool {
	return len(p.Languages) == 0 && language != judge.AnswerLanguage || slices.Contains(p.Languages, language)
}

func openIDs(offers []offer) string {
	var ids []string
	for _, o := range offers {
		if o.Open() {
			ids = append(ids, o.ID)
		}
	}
	return strings.Join(ids, ", ")
}

func checkSources(in handIn, limit int64) []*judge.FieldError {
	if len(in.Sources) == 0 {
		return []*judge.FieldError{wrongField(in.fields.source, reasonEmpty, "There is no program.")}
	}
	if len(in.Sources) > maxSources {
		return []*judge.FieldError{wrongField("sources", "too_many", "There are %d files; at most %d are taken.", len(in.Sources), maxSources)}
	}
	var wrong wrongFields
	var total int64
	names := map[string]bool{}
	for i, source := range in.Sources {
		field := in.fields.source
		if len(in.Sources) > 1 {
			field = fmt.Sprintf("sources[%d]", i)
		}
		total += int64(len(source.Text))
		wrong.add(checkText(field, source.Text))
		wrong.add(checkName(field, source.Name, names, len(in.Sources) > 1))
	}
	if total > limit {
		wrong.add(wrongField(in.fields.source, reasonTooLong, "The program has %s; this problem takes at most %s.",
			plural(total, "byte", "bytes"), bytesText(limit)))
	}
	return wrong
}

func checkText(field, text string) *judge.FieldError {
	switch {
	case strings.TrimSpace(text) == "":
		return wrongField(field, reasonEmpty, "The program is empty.")
	case strings.ContainsRune(text, 0):
		line := 1 + strings.Count(text[:strings.IndexByte(text, 0)], "\n")
		return wrongField(field, reasonNUL, "Line %d has a NUL byte; send source text, not a compiled file.", line)
	case !utf8.ValidString(text):
		return wrongField(field, reasonEncoding, "The program is not UTF-8 text; save it as UTF-8.")
	}
	return nil
}

// checkName checks the plain file name of a source. One source may go without.
func checkName(field, name string, seen map[string]bool, several bool) *judge.FieldError {
	switch {
	case name == "" && several:
		return wrongField(field+".name", reasonMissing, "Each of several files needs a name.")
	case name == "":
		return nil
	case len(name) > maxFileName:
		return wrongField(field+".name", reasonInvalid, "The file name has more than %d bytes.", maxFileName)
	case name != path.Base(name) || name[0] == '.' || name[0] == '-' || strings.ContainsFunc(name, badInName):
		return wrongField(field+".name", reasonInvalid, "%q is not a plain file name.", shorten(name))
	case seen[name]:
		return wrongField(field+".name", "duplicate", "Two files are called %q.", name)
	}
	seen[name] = true
	return nil
}

func badInName(r rune) bool {
	return r < ' ' || r == utf8.RuneError || strings.ContainsRune(`/\:*?"<>|`, r) || r == 0x7f
}

// defaultName is the file name of a source that came without one.
func defaultName(offers []offer, language string) string {
	for _, o := range offers {
		if o.ID == language && len(o.Extensions) > 0 {
			return "main." + o.Extensions[0]
		}
	}
	return "main"
}

// apiSubmitOriginal handles POST /submit, the original contract.
func (s *Server) apiSubmitOriginal(c *fiber.Ctx) error {
	f, err := readFields(c, "problem_id", "language", "code")
	if err != nil {
		return err
	}
	in := handIn{
		Problem: f.text("problem_id"), Language: f.text("language"),
		Sources: []judge.Source{{Text: f.text("code")}}, Key: c.Get("Idempotency-Key"), fields: originalFields,
	}
	if err := f.wrong.err(); err != nil {
		return err
	}
	receipt, err := s.accept(c.UserContext(), viewerOf(c), in)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"job_id": receipt.JobID})
}

// programFields are the fields of a program that is handed in.
var programFields = []string{"problem", "space", "language", "source", "sources", "once", "immediate", "priority", "job_key"}

// handIn reads the fields of a program.
func (f *fields) handIn(v viewer, key string) (handIn, error) {
	turn, err := f.turn(v)
	if err != nil {
		return handIn{}, err
	}
	in := handIn{Turn: turn, Problem: f.text("problem"), Language: f.text("language"), Key: key, fields: v1Fields}
	if f.has("space") {
		if in.Space = f.text("space"); in.Space == "" {
			f.wrong.add(wrongField("space", reasonEmpty, "Name the space, or leave the field out."))
		}
	}
	if f.has("once") && json.Unmarshal(f.raw["once"], &in.Once) != nil {
		f.wrong.add(wrongField("once", reasonWrong, "The field has to be a truth value, not %s.", kindOf(f.raw["once"])))
	}
	in.Sources = f.program()
	return in, f.wrong.err()
}

// receiptJSON is what programs are told of a submission that they handed in.
type receiptJSON struct {
	JobID    int64  `json:"job_id"`
	URL      string `json:"url"`
	Existing bool   `json:"existing"`
}

func publicReceipt(r sql.Receipt) receiptJSON {
	return receiptJSON{r.JobID, submissionURL(r.JobID), r.Existing}
}

// apiSubmit handles POST /api/v1/submissions.
func (s *Server) apiSubmit(c *fiber.Ctx) error {
	f, err := readFields(c, programFields...)
	if err != nil {
		return err
	}
	in, err := f.handIn(viewerOf(c), c.Get("Idempotency-Key"))
	if err != nil {
		return err
	}
	receipt, err := s.accept(c.UserContext(), viewerOf(c), in)
	if err != nil {
		return err
	}
	status := fiber.StatusCreated
	if receipt.Existing {
		status = fiber.StatusOK
	}
	c.Set(fiber.HeaderLocation, "/api/v1"+submissionURL(receipt.JobID))
	return c.Status(status).JSON(publicReceipt(receipt))
}
