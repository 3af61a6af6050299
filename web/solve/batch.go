package solve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/site"
)

// maxBatch is how many submissions one request may hand in or ask for.
const maxBatch = 50

// entryJSON is a program in a batch, for the description of the API.
type entryJSON struct {
	Problem   string         `json:"problem"`
	Language  string         `json:"language"`
	Source    string         `json:"source,omitempty"`
	Sources   []judge.Source `json:"sources,omitempty"`
	Once      bool           `json:"once,omitempty"`
	Immediate bool           `json:"immediate,omitempty"`
	Priority  int            `json:"priority,omitempty"`
	JobKey    string         `json:"job_key,omitempty"`
}

// apiSubmitBatch handles POST /api/v1/submissions/batch. All are stored or none is.
func (s *Room) apiSubmitBatch(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "submissions", "space", "round")
	if err != nil {
		return err
	}
	var entries []json.RawMessage
	switch {
	case !f.Has("submissions"):
		f.Wrong.Add(site.WrongField("submissions", site.ReasonMissing, "The field is missing."))
	case json.Unmarshal(f.Raw["submissions"], &entries) != nil:
		f.Wrong.Add(site.WrongField("submissions", site.ReasonWrong, "The field has to be a list of objects, not %s.", site.KindOf(f.Raw["submissions"])))
	case len(entries) == 0:
		f.Wrong.Add(site.WrongField("submissions", site.ReasonEmpty, "There is no submission."))
	case len(entries) > maxBatch:
		f.Wrong.Add(site.WrongField("submissions", "too_many", "There are %d submissions; at most %d are taken at once.", len(entries), maxBatch))
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	ns, to, err := s.prepareAll(c, f, entries)
	if err != nil {
		return err
	}
	receipts, err := s.storeAll(c.UserContext(), ns)
	if err != nil {
		return V1Fields.Rename(to.fault(err))
	}
	out := make([]Receipt, len(receipts))
	for i, r := range receipts {
		out[i] = publicReceipt(r)
	}
	return c.Status(fiber.StatusCreated).JSON(fiber.Map{"submissions": out})
}

// ofAll are the fields that all entries of a batch share.
var ofAll = []string{"space", "round"}

// prepareAll checks the entries of a batch, which is handed in to one space, to one round or to none, and names everything
// that is wrong with any of them.
func (s *Room) prepareAll(c *fiber.Ctx, f *site.Fields, entries []json.RawMessage) (ns []sql.NewJob, to place, err error) {
	var wrong *site.Fault
	for i, raw := range entries {
		n, at, err := s.prepareEntry(c, f, i, raw)
		if err == nil {
			ns, to = append(ns, n), at
			continue
		}
		one := *s.Explain(c.UserContext(), err)
		if one.Field == "" {
			return nil, to, err // of no entry: the database is away
		}
		wrong = joined(wrong, placed(one, fmt.Sprintf("submissions[%d]", i), f))
	}
	if wrong != nil {
		return nil, to, wrong
	}
	return ns, to, nil
}

func (s *Room) prepareEntry(c *fiber.Ctx, f *site.Fields, i int, raw json.RawMessage) (n sql.NewJob, to place, err error) {
	if site.KindOf(raw) != "an object" {
		return n, to, site.WrongFields{site.WrongField("body", site.ReasonWrong, "The entry has to be an object, not %s.", site.KindOf(raw))}.Err()
	}
	one, err := site.ParseFields(raw, slices.DeleteFunc(slices.Clone(programFields), func(name string) bool { return slices.Contains(ofAll, name) })...)
	if err != nil {
		return n, to, err
	}
	for _, name := range ofAll {
		if f.Has(name) {
			one.Raw[name] = f.Raw[name]
		}
	}
	key := c.Get("Idempotency-Key")
	if key != "" {
		key += ":" + strconv.Itoa(i)
	}
	in, err := readProgram(one, site.ViewerOf(c), key)
	if err != nil {
		return n, to, err
	}
	return s.prepare(c.UserContext(), site.ViewerOf(c), in)
}

// storeAll stores submissions at once, as store does with one.
func (s *Room) storeAll(ctx context.Context, ns []sql.NewJob) ([]sql.Receipt, error) {
	began := time.Now()
	receipts, err := s.Store.SubmitMany(ctx, ns)
	if err != nil {
		s.Count.Submits.WithLabelValues("refused", s.Explain(ctx, err).Reason).Add(float64(len(ns)))
		return nil, err
	}
	for _, r := range receipts {
		if r.Existing {
			s.Count.Submits.WithLabelValues("repeated", "").Inc()
			continue
		}
		s.Count.Submits.WithLabelValues("stored", "").Inc()
		telemetry.Submitted(ctx, r.JobID, began)
	}
	return receipts, nil
}

// placed is the fault of an entry with fields as they are called in the request.
// The key is the request's, and so is what all share, if it names that.
func placed(f site.Fault, at string, of *site.Fields) *site.Fault {
	within := func(field string) string {
		switch {
		case field == "" || field == "body":
			return at
		case field == V1Fields.Key, slices.Contains(ofAll, field) && of.Has(field):
			return field
		}
		return at + "." + field
	}
	f.Errors = slices.Clone(f.Errors)
	for i := range f.Errors {
		f.Errors[i].Field = within(f.Errors[i].Field)
	}
	f.Field = within(f.Field)
	return &f
}

// joined is the fault with another, which names its own fields.
func joined(f, other *site.Fault) *site.Fault {
	if f == nil {
		return other
	}
	for _, one := range []*site.Fault{f, other} {
		if len(one.Errors) == 0 {
			one.Errors = []site.FieldFault{{Field: one.Field, Reason: one.Reason, Detail: one.Detail}}
		}
	}
	f.Errors = append(f.Errors, other.Errors...)
	return f
}

// apiSubmissionBatch handles GET /api/v1/submissions/batch?ids=1,2: in the order of
// the ids, null for what the viewer may not see or is not there.
func (s *Room) apiSubmissionBatch(c *fiber.Ctx) error {
	texts := strings.Split(c.Query("ids"), ",")
	if len(texts) > maxBatch {
		return site.WrongField("ids", "too_many", "There are %d numbers; at most %d are answered at once.", len(texts), maxBatch)
	}
	out := make([]*job.SubmissionJSON, len(texts))
	for i, text := range texts {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return site.WrongField("ids", site.ReasonInvalid, "Name submissions by their numbers, separated by commas.")
		}
		sub, err := s.seenSubmission(c, id)
		if errors.Is(err, sql.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		public := job.PublicSubmission(sub, nil, site.ViewerOf(c))
		out[i] = &public
	}
	return c.JSON(fiber.Map{"submissions": out})
}
