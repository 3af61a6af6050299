package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/judge0"
	"deepoj/web/site"
)

const (
	maxBatch    = 20              // submissions of a batch at most
	longestWait = 2 * time.Minute // of wait=true at most
	pageSize    = 20              // submissions of a page, unless another number is given
	maxPage     = 200             // of a page at most
)

// Speaks reports whether the path is under /judge0.
func Speaks(path string) bool {
	return path == site.Judge0Path || strings.HasPrefix(path, site.Judge0Path+"/")
}

// Token returns the token that a client of Judge0 sends.
func Token(c *fiber.Ctx) string {
	if token := c.Get("X-Auth-Token"); token != "" {
		return token
	}
	return c.Get("X-Auth-User")
}

// staffOnly lets only staff in: by the session, or by the token in X-Auth-User.
func (s *Room) staffOnly(c *fiber.Ctx) error {
	v := site.ViewerOf(c)
	if token := c.Get("X-Auth-User"); token != "" && !v.Staff() {
		found, err := s.Bearer(c.UserContext(), token)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			return site.UnknownToken(err)
		}
		if err == nil && !found.OneTime && site.WithinScope(c, found) == nil {
			v = found
		}
	}
	if !v.Staff() {
		return site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff may do this.", "")
	}
	c.Locals(site.ViewerKey{}, v)
	return c.Next()
}

// refuse answers as Judge0 refuses. What is not there has its status in the answer, too.
func refuse(c *fiber.Ctx, status int, format string, args ...any) error {
	out := fiber.Map{"error": fmt.Sprintf(format, args...)}
	if status == fiber.StatusNotFound {
		out["status"] = status
	}
	return c.Status(status).JSON(out)
}

// Refuse words a fault as Judge0 does.
func Refuse(c *fiber.Ctx, f *site.Fault) error {
	if f.Reason == string(judge.ReasonQueueFull) {
		return refuse(c, f.Status, "queue is full")
	}
	return refuse(c, f.Status, "%s", strings.TrimSpace(f.Error()+" "+f.Remedy))
}

// query is what the parameters of a request ask for.
type query struct {
	fields  []string
	encoded bool // texts are in Base64, in both directions
}

// readQuery reads the parameters. Its error is for the client.
func readQuery(c *fiber.Ctx) (query, error) {
	names, err := judge0.ReadFields(c.Query("fields"))
	return query{names, c.Query("base64_encoded") == "true"}, err
}

// known returns the languages that there are. Those that can be used now are available.
func (s *Room) known(ctx context.Context) ([]judge.Language, error) {
	offers, err := s.Catalog.Runnable(ctx, "")
	if err != nil {
		return nil, err
	}
	out := make([]judge.Language, len(offers))
	for i, o := range offers {
		out[i] = o.Language
		out[i].Available = o.Open()
	}
	return out, nil
}

// create handles POST /judge0/submissions.
func (s *Room) create(c *fiber.Ctx) error {
	ask, err := readQuery(c)
	if err != nil {
		return refuse(c, fiber.StatusBadRequest, "%v", err)
	}
	params, err := readParams(c)
	if err != nil {
		return refuse(c, fiber.StatusBadRequest, "%v", err)
	}
	stored, wrong, err := s.submit(c.UserContext(), site.ViewerOf(c), ask.encoded, params)
	switch {
	case err != nil:
		return err
	case len(wrong[0]) > 0:
		return c.Status(fiber.StatusUnprocessableEntity).JSON(wrong[0])
	case c.Query("wait") != "true":
		return c.Status(fiber.StatusCreated).JSON(fiber.Map{"token": stored[0].token})
	}
	if err := s.job.JobsSettled(c, longestWait, stored[0].jobID); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), job.LookTime)
	defer cancel()
	run, err := s.Store.Run(ctx, stored[0].jobID)
	if err != nil {
		return fmt.Errorf("look at a run: %w", err)
	}
	languages, err := s.known(ctx)
	if err != nil {
		return err
	}
	out, err := judge0.Encode(run, ask.fields, ask.encoded, languages)
	if errors.Is(err, judge0.ErrNotUTF8) {
		return c.Status(fiber.StatusCreated).JSON(fiber.Map{"error": err.Error(), "token": stored[0].token})
	}
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(out)
}

// readParams reads the fields of a submission: JSON, or a form.
func readParams(c *fiber.Ctx) (judge0.Params, error) {
	kind, _, _ := mime.ParseMediaType(c.Get(fiber.HeaderContentType)) // without one it is JSON
	switch kind {
	case fiber.MIMEApplicationForm:
		values := map[string]string{}
		c.Context().PostArgs().VisitAll(func(name, value []byte) { values[string(name)] = string(value) })
		return judge0.FormParams(values), nil
	case fiber.MIMEMultipartForm:
		form, err := c.MultipartForm()
		if err != nil {
			return nil, errors.New("the form cannot be read")
		}
		values := map[string]string{}
		for name, list := range form.Value {
			values[name] = list[0]
		}
		return judge0.FormParams(values), nil
	}
	return judge0.ReadParams(c.Body())
}

// receipt is a submission that was stored.
type receipt struct {
	jobID int64
	token string
}

// submit checks submissions and stores those that are well. The answers are
// in the order of the parameters: what was stored, or what is wrong.
func (s *Room) submit(ctx context.Context, v site.Viewer, encoded bool, all ...judge0.Params) ([]receipt, []judge0.Errors, error) {
	languages, err := s.known(ctx)
	if err != nil {
		return nil, nil, err
	}
	stored, wrong := make([]receipt, len(all)), make([]judge0.Errors, len(all))
	var ns []sql.NewJob
	var at []int
	for i, params := range all {
		run, asked, errs := judge0.Decode(params, encoded, languages, s.Config.MaxRun)
		if len(errs) > 0 {
			wrong[i] = errs
			continue
		}
		payload, err := json.Marshal(run)
		if err != nil {
			return nil, nil, fmt.Errorf("encode a run: %w", err)
		}
		stored[i].token = uuid.NewString()
		key := judge0.Prefix + stored[i].token
		if asked.CallbackURL != nil {
			if err := s.Store.SaveCallback(ctx, key, v.Name, *asked.CallbackURL); err != nil {
				return nil, nil, err
			}
		}
		at = append(at, i)
		ns = append(ns, sql.NewJob{
			Kind: judge.KindRun, Language: run.Language, Author: v.Name, GroupKey: v.Name, IdempotencyKey: key, TraceID: site.TraceOf(ctx),
			Sources: run.Sources, Payload: payload,
		})
	}
	began := time.Now()
	receipts, err := s.Store.SubmitMany(ctx, ns)
	if err != nil {
		return nil, nil, fmt.Errorf("store runs: %w", err)
	}
	for k, r := range receipts {
		telemetry.Submitted(ctx, r.JobID, began)
		stored[at[k]].jobID = r.JobID
	}
	return stored, wrong, nil
}

// runsOf returns the runs of tokens that the viewer may see, and nil for others. Where a token is enough, it is that of
// the run which had it first: another, stored with the token as its key, is not what the token was given for.
func (s *Room) runsOf(ctx context.Context, v site.Viewer, tokens ...string) ([]*judge.Run, error) {
	keys := make([]string, len(tokens))
	for i, token := range tokens {
		keys[i] = judge0.Prefix + token
	}
	found, err := s.Store.RunsOfTokens(ctx, keys...)
	if err != nil {
		return nil, err
	}
	byKey := map[string]int64{}
	for _, k := range found {
		if _, older := byKey[k.Token]; !older && (s.Config.Judge0Open || v.MaySee(k.Group)) {
			byKey[k.Token] = k.JobID
		}
	}
	ids := make([]int64, len(tokens))
	for i, key := range keys {
		ids[i] = byKey[key]
	}
	return s.Store.Runs(ctx, ids...)
}

// show handles GET /judge0/submissions/:token.
func (s *Room) show(c *fiber.Ctx) error {
	ask, err := readQuery(c)
	if err != nil {
		return refuse(c, fiber.StatusBadRequest, "%v", err)
	}
	runs, err := s.runsOf(c.UserContext(), site.ViewerOf(c), c.Params("token"))
	if err != nil {
		return err
	}
	if runs[0] == nil {
		return refuse(c, fiber.StatusNotFound, "there is no submission with this token")
	}
	return s.tell(c, ask, func(all []any) any { return all[0] }, oneSubmission, runs[0])
}

// tell answers with runs, in the shape that the caller gives them. Whose names them where one cannot be told.
func (s *Room) tell(c *fiber.Ctx, ask query, shape func([]any) any, whose string, runs ...*judge.Run) error {
	languages, err := s.known(c.UserContext())
	if err != nil {
		return err
	}
	all := make([]any, len(runs))
	for i, run := range runs {
		if run == nil {
			continue
		}
		all[i], err = judge0.Encode(run, ask.fields, ask.encoded, languages)
		if errors.Is(err, judge0.ErrNotUTF8) {
			return refuse(c, fiber.StatusBadRequest, "%s", judge0.NotUTF8(whose))
		}
		if err != nil {
			return err
		}
	}
	return c.JSON(shape(all))
}

// Whose fields a Judge0 answer speaks of.
const (
	oneSubmission      = "this submission"
	severalSubmissions = "one or more submissions"
)

// index handles GET /judge0/submissions.
func (s *Room) index(c *fiber.Ctx) error {
	ask, err := readQuery(c)
	if err != nil {
		return refuse(c, fiber.StatusBadRequest, "%v", err)
	}
	page, perPage := int64(1), int64(pageSize)
	for name, into := range map[string]*int64{"page": &page, "per_page": &perPage} {
		text := c.Query(name)
		if text == "" {
			continue
		}
		if *into, err = strconv.ParseInt(text, 10, 32); err != nil || *into < 1 {
			return refuse(c, fiber.StatusBadRequest, "invalid %s: %s", name, site.Shorten(text))
		}
	}
	perPage = min(perPage, maxPage)
	runs, total, err := s.Store.RunPage(c.UserContext(), judge0.Prefix, (page-1)*perPage, perPage)
	if err != nil {
		return err
	}
	pages := max(1, (total+perPage-1)/perPage)
	meta := fiber.Map{"current_page": page, "next_page": nil, "prev_page": nil, "total_pages": pages, "total_count": total}
	if page < pages {
		meta["next_page"] = page + 1
	}
	if page > 1 {
		meta["prev_page"] = page - 1
	}
	return s.tell(c, ask, func(all []any) any { return fiber.Map{"submissions": all, "meta": meta} }, severalSubmissions, runs...)
}

// remove handles DELETE /judge0/submissions/:token. Runs end by their retention alone.
func (s *Room) remove(c *fiber.Ctx) error {
	return refuse(c, fiber.StatusBadRequest, "delete not allowed")
}

// createBatch handles POST /judge0/submissions/batch. It knows no wait, as its clients expect.
func (s *Room) createBatch(c *fiber.Ctx) error {
	encoded := c.Query("base64_encoded") == "true"
	params, err := judge0.ReadParams(c.Body())
	if err != nil {
		return refuse(c, fiber.StatusBadRequest, "%v", err)
	}
	var list []judge0.Params
	if raw, ok := params["submissions"]; ok && json.Unmarshal(raw, &list) != nil {
		return refuse(c, fiber.StatusBadRequest, "submissions is not a list of objects")
	}
	if refused, err := checkSize(c, len(list)); refused {
		return err
	}
	stored, wrong, err := s.submit(c.UserContext(), site.ViewerOf(c), encoded, list...)
	if err != nil {
		return err
	}
	out, status := make([]any, len(list)), fiber.StatusUnprocessableEntity
	for i := range list {
		if len(wrong[i]) > 0 {
			out[i] = wrong[i]
			continue
		}
		out[i], status = fiber.Map{"token": stored[i].token}, fiber.StatusCreated
	}
	return c.Status(status).JSON(out)
}

func checkSize(c *fiber.Ctx, n int) (refused bool, err error) {
	switch {
	case n == 0:
		return true, refuse(c, fiber.StatusBadRequest, "there should be at least one submission in a batch")
	case n > maxBatch:
		return true, refuse(c, fiber.StatusBadRequest, "number of submissions in a batch should be less than or equal to %d", maxBatch)
	}
	return false, nil
}

// showBatch handles GET /judge0/submissions/batch.
func (s *Room) showBatch(c *fiber.Ctx) error {
	ask, err := readQuery(c)
	if err != nil {
		return refuse(c, fiber.StatusBadRequest, "%v", err)
	}
	var tokens []string
	if list := strings.TrimSpace(site.OrElse(c.Get("tokens"), c.Query("tokens"))); list != "" {
		tokens = strings.Split(list, ",")
	}
	if refused, err := checkSize(c, len(tokens)); refused {
		return err
	}
	runs, err := s.runsOf(c.UserContext(), site.ViewerOf(c), tokens...)
	if err != nil {
		return err
	}
	return s.tell(c, ask, func(all []any) any { return fiber.Map{"submissions": all} }, severalSubmissions, runs...)
}
