package web

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
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
	Before      judge.Verdict `json:"before"`
	BeforeScore *float64      `json:"before_score,omitempty"`
	After       judge.Verdict `json:"after"`
	AfterScore  *float64      `json:"after_score,omitempty"`
}

// turnJSON is how many judgings of a set turned one verdict into another, or kept
// it.
type turnJSON struct {
	Before judge.Verdict `json:"before"`
	After  judge.Verdict `json:"after"`
	Count  int64         `json:"count"`
}

// apiStartRejudge handles POST /api/v1/rejudgings. The header Idempotency-Key
// makes repeated requests one set.
func (s *Server) apiStartRejudge(c *fiber.Ctx) error {
	f, err := readFields(c, "reason", "problem", "language", "author", "verdict", "job_ids")
	if err != nil {
		return err
	}
	r := sql.RejudgeRequest{Key: c.Get("Idempotency-Key"), Reason: f.text("reason")}
	for name, to := range map[string]*string{"problem": &r.Problem, "language": &r.Language, "author": &r.Author, "verdict": (*string)(&r.Verdict)} {
		if f.has(name) {
			*to = f.text(name)
		}
	}
	if f.has("job_ids") && json.Unmarshal(f.raw["job_ids"], &r.JobIDs) != nil {
		f.wrong.add(wrongField("job_ids", reasonWrong, "The field has to be a list of ids."))
	}
	set, err := s.startRejudge(c, r, f.wrong, "Idempotency-Key")
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, fmt.Sprintf("/api/v1/rejudgings/%d", set.ID))
	return c.Status(fiber.StatusAccepted).JSON(publicSet(set))
}

// startRejudge starts the set that r describes, unless something is wrong with
// it; keyField is what the caller calls the idempotency key.
func (s *Server) startRejudge(c *fiber.Ctx, r sql.RejudgeRequest, wrong wrongFields, keyField string) (sql.RejudgeSet, error) {
	if len(wrong) == 0 { // a field that cannot be read is wrong once
		wrong.add(checkReason(r.Reason))
	}
	for name, value := range map[string]string{"problem": r.Problem, "language": r.Language, "author": r.Author} {
		if value != "" && !plainWord(value) {
			wrong.add(wrongField(name, reasonInvalid, "The value is not a name."))
		}
	}
	if r.Verdict != "" && !r.Verdict.Valid() {
		wrong.add(wrongField("verdict", reasonUnknown, "There is no verdict %q.", shorten(string(r.Verdict))))
	}
	if r.Key != "" && !plainWord(r.Key) {
		wrong.add(wrongField(keyField, reasonInvalid, "The key has to be 1 to 128 printable characters."))
	}
	if err := wrong.err(); err != nil {
		return sql.RejudgeSet{}, err
	}
	r.By = viewerOf(c).Name
	return s.store.StartRejudge(c.UserContext(), r)
}

func (s *Server) apiRejudgings(c *fiber.Ctx) error {
	f, err := filterOf(c)
	if err != nil {
		return err
	}
	found, err := s.store.RejudgeSets(c.UserContext(), f.Before, f.Limit)
	if err != nil {
		return err
	}
	out := make([]setJSON, len(found))
	for i, r := range found {
		out[i] = publicSet(r)
	}
	return c.JSON(fiber.Map{"rejudgings": out})
}

// apiRejudging handles GET /api/v1/rejudgings/:id?after=: progress, and the first
// changes of jobs with an id above after.
func (s *Server) apiRejudging(c *fiber.Ctx) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	after, err := lastEventID(c)
	if err != nil {
		return err
	}
	set, err := s.store.RejudgeSet(c.UserContext(), id)
	if err != nil {
		return err
	}
	found, err := s.store.RejudgeChanges(c.UserContext(), id, after, maxPage)
	if err != nil {
		return err
	}
	changes := make([]changeJSON, len(found))
	for i, x := range found {
		changes[i] = changeJSON(x)
	}
	turns, err := s.store.RejudgeMatrix(c.UserContext(), id)
	if err != nil {
		return err
	}
	matrix := make([]turnJSON, len(turns))
	for i, x := range turns {
		matrix[i] = turnJSON(x)
	}
	return c.JSON(fiber.Map{"rejudging": publicSet(set), "matrix": matrix, "changes": changes})
}

// apiResolveRejudge returns the handler of POST /api/v1/rejudgings/:id/apply and
// cancel.
func (s *Server) apiResolveRejudge(apply bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := s.resolveRejudge(c, apply)
		if err != nil {
			return err
		}
		set, err := s.store.RejudgeSet(c.UserContext(), id)
		if err != nil {
			return err
		}
		return c.JSON(publicSet(set))
	}
}

// resolveRejudge applies or cancels the set that the address names.
func (s *Server) resolveRejudge(c *fiber.Ctx, apply bool) (int64, error) {
	id, err := idOf(c)
	if err != nil {
		return 0, err
	}
	resolve := s.store.CancelRejudge
	if apply {
		resolve = s.store.ApplyRejudge
	}
	return id, resolve(c.UserContext(), id, viewerOf(c).Name)
}
