package staff

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/site"
)

// setJSON is a rejudge set with its progress.
type setJSON struct {
	ID         int64           `json:"id"`
	Key        string          `json:"key,omitempty"`
	Reason     string          `json:"reason"`
	Request    json.RawMessage `json:"request"`
	CreatedBy  string          `json:"created_by"`
	Created    time.Time       `json:"created"`
	Resolution string          `json:"resolution,omitempty"`
	ResolvedBy string          `json:"resolved_by,omitempty"`
	Resolved   *time.Time      `json:"resolved,omitempty"`
	Done       bool            `json:"done"` // nothing is under way
	Total      int64           `json:"total"`
	Skipped    int32           `json:"skipped"`
	Waiting    int64           `json:"waiting"`
	Running    int64           `json:"running"`
	Judged     int64           `json:"judged"`
	Dead       int64           `json:"dead"`
	Left       int64           `json:"left"`
	Changed    int64           `json:"changed"`
}

func publicSet(r sql.RejudgeSet) setJSON {
	return setJSON{
		r.ID, r.Key, r.Reason, r.Request, r.CreatedBy, r.Created, r.Resolution, r.ResolvedBy, r.Resolved, r.Done(),
		r.Total, r.Skipped, r.Waiting, r.Running, r.Judged, r.Dead, r.Left, r.Changed,
	}
}

// changeJSON is what a set changes about a submission.
type changeJSON struct {
	JobID       int64         `json:"job_id"`
	Author      string        `json:"author"`
	Problem     string        `json:"problem"`
	Before      judge.Verdict `json:"before"`
	BeforeScore *float64      `json:"before_score,omitempty"`
	After       judge.Verdict `json:"after"`
	AfterScore  *float64      `json:"after_score,omitempty"`
}

// turnJSON is how many judgings of a set turned one verdict into another, or kept it.
type turnJSON struct {
	Before judge.Verdict `json:"before"`
	After  judge.Verdict `json:"after"`
	Count  int64         `json:"count"`
}

// apiStartRejudge handles POST /api/v1/rejudgings. The header Idempotency-Key makes repeated requests one set.
func (s *Room) apiStartRejudge(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "reason", "problem", "language", "author", "verdict", "job_ids")
	if err != nil {
		return err
	}
	r := sql.RejudgeRequest{Key: c.Get("Idempotency-Key"), Reason: f.Text("reason")}
	for name, to := range map[string]*string{"problem": &r.Problem, "language": &r.Language, "author": &r.Author, "verdict": (*string)(&r.Verdict)} {
		if f.Has(name) {
			*to = f.Text(name)
		}
	}
	if f.Has("job_ids") && json.Unmarshal(f.Raw["job_ids"], &r.JobIDs) != nil {
		f.Wrong.Add(site.WrongField("job_ids", site.ReasonWrong, "The field has to be a list of ids."))
	}
	set, err := s.startRejudge(c, r, f.Wrong, "Idempotency-Key")
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, fmt.Sprintf("/api/v1/rejudgings/%d", set.ID))
	return c.Status(fiber.StatusAccepted).JSON(publicSet(set))
}

// startRejudge starts the set that r describes, unless something is wrong with
// it; keyField is what the caller calls the idempotency key.
func (s *Room) startRejudge(c *fiber.Ctx, r sql.RejudgeRequest, wrong site.WrongFields, keyField string) (sql.RejudgeSet, error) {
	if len(wrong) == 0 { // a field that cannot be read is wrong once
		wrong.Add(checkReason(r.Reason))
	}
	for name, value := range map[string]string{"problem": r.Problem, "language": r.Language, "author": r.Author} {
		if value != "" && !site.PlainWord(value) {
			wrong.Add(site.WrongField(name, site.ReasonInvalid, "The value is not a name."))
		}
	}
	if r.Verdict != "" && !r.Verdict.Valid() {
		wrong.Add(site.WrongField("verdict", site.ReasonUnknown, "There is no verdict %q.", site.Shorten(string(r.Verdict))))
	}
	if r.Key != "" && !site.PlainWord(r.Key) {
		wrong.Add(site.WrongField(keyField, site.ReasonInvalid, "The key has to be 1 to 128 printable characters."))
	}
	if err := wrong.Err(); err != nil {
		return sql.RejudgeSet{}, err
	}
	r.By = site.ViewerOf(c).Name
	return s.Store.StartRejudge(c.UserContext(), r)
}

func (s *Room) apiRejudgings(c *fiber.Ctx) error {
	f, err := site.FilterOf(c)
	if err != nil {
		return err
	}
	found, err := s.Store.RejudgeSets(c.UserContext(), f.Before, f.Limit)
	if err != nil {
		return err
	}
	out := make([]setJSON, len(found))
	for i, r := range found {
		out[i] = publicSet(r)
	}
	return c.JSON(fiber.Map{"rejudgings": out, "next": site.NextOf(found, f.Limit, func(r sql.RejudgeSet) int64 { return r.ID })})
}

// apiRejudging handles GET /api/v1/rejudgings/:id?after=: progress, and the first
// changes of jobs with an id above after.
func (s *Room) apiRejudging(c *fiber.Ctx) error {
	id, err := site.IDOf(c)
	if err != nil {
		return err
	}
	after, err := job.LastEventID(c)
	if err != nil {
		return err
	}
	limit, err := site.LimitOf(c)
	if err != nil {
		return err
	}
	set, err := s.Store.RejudgeSet(c.UserContext(), id)
	if err != nil {
		return err
	}
	found, err := s.Store.RejudgeChanges(c.UserContext(), id, after, limit)
	if err != nil {
		return err
	}
	changes := make([]changeJSON, len(found))
	for i, x := range found {
		changes[i] = changeJSON{x.JobID, x.Author, x.Problem, x.Before, x.BeforeScore, x.After, x.AfterScore}
	}
	turns, err := s.Store.RejudgeMatrix(c.UserContext(), id)
	if err != nil {
		return err
	}
	matrix := make([]turnJSON, len(turns))
	for i, x := range turns {
		matrix[i] = turnJSON(x)
	}
	return c.JSON(fiber.Map{"rejudging": publicSet(set), "matrix": matrix, "changes": changes, "next": site.NextOf(found, limit, func(x sql.RejudgeChange) int64 { return x.JobID })})
}

// apiResolveRejudge returns the handler of POST /api/v1/rejudgings/:id/apply and cancel.
func (s *Room) apiResolveRejudge(apply bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := s.resolveRejudge(c, apply)
		if err != nil {
			return err
		}
		set, err := s.Store.RejudgeSet(c.UserContext(), id)
		if err != nil {
			return err
		}
		return c.JSON(publicSet(set))
	}
}

// resolveRejudge applies or cancels the set that the address names.
func (s *Room) resolveRejudge(c *fiber.Ctx, apply bool) (int64, error) {
	id, err := site.IDOf(c)
	if err != nil {
		return 0, err
	}
	resolve := s.Store.CancelRejudge
	if apply {
		resolve = s.Store.ApplyRejudge
	}
	return id, resolve(c.UserContext(), id, site.ViewerOf(c).Name)
}
