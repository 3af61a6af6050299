package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// What a run may have.
const (
	maxRunTests = 20
	maxRunWords = 64   // arguments of the program, and of the compiler
	maxRunWord  = 1024 // bytes of one
	runPriority = -1   // of runs that people try things with: behind submissions
)

// newRun is a program to be run, as it came in.
type newRun struct {
	handIn
	payload judge.RunPayload
}

var runFields = fieldNames{"problem", "language", "source", "Idempotency-Key"}

// acceptRun checks a run and stores it. When it returns, the run and its queue
// row are committed.
func (s *Server) acceptRun(ctx context.Context, v viewer, in newRun) (sql.Receipt, error) {
	var none sql.Receipt
	offers, err := s.runnable(ctx, in.Language)
	if err != nil {
		return none, err
	}
	var problem *judge.Problem
	if in.Problem != "" {
		if problem, _, err = s.problemOf(ctx, v, in.handIn); err != nil {
			return none, err
		}
	}
	wrong := checkRun(in, problem, offers, s.cfg.MaxRun)
	if err := wrong.err(); err != nil {
		return none, err
	}
	for i := range in.Sources {
		if in.Sources[i].Name == "" {
			in.Sources[i].Name = defaultName(offers, in.Language)
		}
	}
	in.payload.Problem, in.payload.Language, in.payload.Sources = in.Problem, in.Language, in.Sources
	return s.storeRun(ctx, v, in.payload, in.Key, runPriority)
}

// runnable returns the languages of programs, for whoever wants to run one in a
// language; "" = all. Answers cannot be run.
func (s *Server) runnable(ctx context.Context, language string) ([]offer, error) {
	offers, err := s.catalog.taking(ctx, language)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(offers), func(o offer) bool { return o.ID == judge.AnswerLanguage }), nil
}

// storeRun stores a run that was checked.
func (s *Server) storeRun(ctx context.Context, v viewer, p judge.RunPayload, key string, priority int) (sql.Receipt, error) {
	p.SchemaVersion, p.ContentType = judge.PayloadVersion, judge.RunType
	payload, err := json.Marshal(p)
	if err != nil {
		return sql.Receipt{}, fmt.Errorf("encode a run: %w", err)
	}
	receipt, err := s.hand(ctx, sql.NewSubmission{
		Kind: judge.KindRun, Problem: p.Problem, Language: p.Language, Author: v.Name, GroupKey: v.Name, IdempotencyKey: key,
		TraceID: traceOf(ctx), Sources: p.Sources, Payload: payload, Lane: judge.LaneNormal, Priority: priority,
	})
	if err != nil {
		return receipt, runFields.rename(err)
	}
	return receipt, nil
}

// checkRun returns everything that is wrong with a run. Problem is nil if none is
// named, or there is none of that name.
func checkRun(in newRun, problem *judge.Problem, offers []offer, most judge.RunLimits) wrongFields {
	var wrong wrongFields
	if in.Problem != "" {
		wrong = checkHandIn(in.handIn, problem, offers)
	} else {
		wrong.add(checkLanguage(in.handIn, nil, offers))
		for _, e := range checkSources(in.handIn, maxFreeSource) {
			wrong.add(e)
		}
		wrong.add(checkKey(in.fields.key, in.Key))
	}
	if in.Language == judge.AnswerLanguage {
		wrong.add(wrongField(in.fields.language, "not_allowed", "Answers are no program that can be run."))
	}
	p := in.payload
	switch {
	case p.Samples && in.Problem == "":
		wrong.add(wrongField("samples", reasonInvalid, "Only a problem has samples; name it in the field problem."))
	case p.Samples && len(p.Tests) > 0:
		wrong.add(wrongField("samples", reasonInvalid, "Send either inputs of your own or samples."))
	case p.Samples && problem != nil && len(problem.Samples) == 0:
		wrong.add(wrongField("samples", reasonEmpty, "The problem has no samples."))
	case len(p.Tests) > maxRunTests:
		wrong.add(wrongField("tests", "too_many", "There are %d tests; at most %d are taken.", len(p.Tests), maxRunTests))
	}
	wrong.add(checkWords("args", p.Args))
	wrong.add(checkWords("compiler_options", p.Options))
	for _, e := range checkRunLimits(p.Limits, most) {
		wrong.add(e)
	}
	return wrong
}

// maxFreeSource bounds the source of a run without a problem, in bytes.
const maxFreeSource = 256 << 10

func checkWords(field string, words []string) *judge.FieldError {
	if len(words) > maxRunWords {
		return wrongField(field, "too_many", "There are %d arguments; at most %d are taken.", len(words), maxRunWords)
	}
	for _, w := range words {
		if len(w) > maxRunWord || strings.ContainsRune(w, 0) || !utf8.ValidString(w) {
			return wrongField(field, reasonInvalid, "An argument has to be UTF-8 text of at most %d bytes without NUL.", maxRunWord)
		}
	}
	return nil
}

// minRunMemory is the least memory that a run may be given, in KiB.
const minRunMemory = 2048

// checkRunLimits compares limits with the most that this server gives.
func checkRunLimits(l, most judge.RunLimits) wrongFields {
	var wrong wrongFields
	for _, f := range []struct {
		name            string
		value, min, max int64
	}{
		{"cpu_ms", l.CPUMillis, 10, most.CPUMillis},
		{"wall_ms", l.WallMillis, 10, most.WallMillis},
		{"memory_kib", l.MemoryKiB, minRunMemory, most.MemoryKiB},
		{"output_kib", l.OutputKiB, 1, most.OutputKiB},
		{"processes", int64(l.Processes), 1, int64(most.Processes)},
	} {
		if f.value != 0 && (f.value < f.min || f.value > f.max) {
			wrong.add(wrongField("limits."+f.name, reasonInvalid, "The limit has to be from %d to %d.", f.min, f.max))
		}
	}
	return wrong
}

// apiRun handles POST /api/v1/runs.
func (s *Server) apiRun(c *fiber.Ctx) error {
	if err := needJSON(c); err != nil {
		return err
	}
	in, err := readRun(c.Body(), c.Get("Idempotency-Key"))
	if err != nil {
		return err
	}
	receipt, err := s.acceptRun(c.UserContext(), viewerOf(c), in)
	if err != nil {
		return err
	}
	id := strconv.FormatInt(receipt.JobID, 10)
	c.Set(fiber.HeaderLocation, "/api/v1/runs/"+id)
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": receipt.JobID, "url": runURL(receipt.JobID), "existing": receipt.Existing})
}

func runURL(id int64) string { return "/runs/" + strconv.FormatInt(id, 10) }

// runFor returns the run that the address names. One that the viewer may not see
// does not exist for them.
func (s *Server) runFor(c *fiber.Ctx) (*judge.Run, error) {
	missing := refuse(fiber.StatusNotFound, "not_found", "There is no run "+strconv.Quote(shorten(c.Params("id")))+" that you may see.", "")
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return nil, missing
	}
	run, err := s.store.Run(c.UserContext(), id)
	if errors.Is(err, sql.ErrNotFound) || err == nil && !viewerOf(c).maySee(run.Author) {
		return nil, missing
	}
	if err != nil {
		return nil, fmt.Errorf("look up a run: %w", err)
	}
	return run, nil
}

// apiRunStatus handles GET /api/v1/runs/:id?wait=SECONDS.
func (s *Server) apiRunStatus(c *fiber.Ctx) error {
	run, err := s.runFor(c)
	if err != nil {
		return err
	}
	wait, err := waitOf(c)
	if err != nil {
		return err
	}
	if wait > 0 && !run.Status.Terminal() {
		if err := s.runsSettled(c, wait, run.JobID); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		defer cancel()
		if run, err = s.store.Run(ctx, run.JobID); err != nil {
			return fmt.Errorf("look at a run: %w", err)
		}
	}
	out := publicRun(run, viewerOf(c))
	place, err := s.placeOf(c.UserContext(), viewerOf(c), run.JobID, run.Status)
	if err != nil && wait == 0 {
		return err
	}
	if place != nil {
		out.Place = publicPlace(*place)
	}
	return c.JSON(out)
}

// waitOf reads the parameter wait.
func waitOf(c *fiber.Ctx) (time.Duration, error) {
	text := c.Query("wait")
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0) {
		return 0, wrongField("wait", reasonInvalid, "The time to wait has to be a number of seconds.")
	}
	return time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second)), nil
}

// runsSettled waits until runs are done, or the time is over. It refuses whoever may
// not have the answer any more.
func (s *Server) runsSettled(c *fiber.Ctx, wait time.Duration, jobIDs ...int64) error {
	deadline := time.Now().Add(wait)
	for _, id := range jobIDs {
		err := s.settle(id, s.clientAddress(c), time.Until(deadline), func(ctx context.Context) (bool, error) {
			statuses, err := s.store.RunStatuses(ctx, id)
			return err != nil || statuses[id].Terminal() || statuses[id] == "", err
		})
		if err != nil {
			return err
		}
	}
	return s.stillAfter(c, wait)
}

// runJSON is a run as /api/v1 shows it.
type runJSON struct {
	JobID     int64          `json:"job_id"`
	URL       string         `json:"url"`
	Problem   string         `json:"problem,omitempty"`
	Language  string         `json:"language"`
	Author    string         `json:"author"`
	Status    string         `json:"status"`
	AttemptID int32          `json:"attempt_id"`
	Tries     int32          `json:"tries"`
	MaxTries  int32          `json:"max_tries"`
	Created   time.Time      `json:"created_at"`
	Started   *time.Time     `json:"started_at"`
	Finished  *time.Time     `json:"finished_at"`
	Place     *placeJSON     `json:"place,omitempty"`
	Result    *runResultJSON `json:"result"`
	Error     *string        `json:"error"`
}

// runResultJSON is what came of a run.
type runResultJSON struct {
	Verdict judge.Verdict  `json:"verdict"`
	Message string         `json:"message,omitempty"`
	Compile *judge.Compile `json:"compile,omitempty"`
	Usage   judge.Usage    `json:"usage"`
	Tests   []runTestJSON  `json:"tests"`
}

// runTestJSON is what a program did on a test. An output that is not UTF-8 comes
// in Base64 besides.
type runTestJSON struct {
	Index        int           `json:"index"`
	Name         string        `json:"name"`
	Verdict      judge.Verdict `json:"verdict"`
	Usage        judge.Usage   `json:"usage"`
	ExitCode     int           `json:"exit_code"`
	ExitSignal   int           `json:"exit_signal,omitempty"`
	Message      string        `json:"message,omitempty"`
	Stdout       string        `json:"stdout"`
	StdoutBase64 string        `json:"stdout_base64,omitempty"`
	StdoutCut    bool          `json:"stdout_cut,omitempty"`
	Stderr       string        `json:"stderr"`
	StderrBase64 string        `json:"stderr_base64,omitempty"`
	StderrCut    bool          `json:"stderr_cut,omitempty"`
}

func publicRun(run *judge.Run, v viewer) runJSON {
	out := runJSON{
		JobID: run.JobID, URL: runURL(run.JobID), Problem: run.Asked.Problem, Language: run.Asked.Language, Author: run.Author,
		Status: run.Shown(), AttemptID: run.AttemptID, Tries: run.Tries, MaxTries: run.MaxTries,
		Created: run.Created, Started: run.Started, Finished: run.Finished,
	}
	if text := runEndedWithout(run, v); text != "" {
		out.Error = &text
	}
	if r := publicResult(run.Result, v, run.Told); r != nil {
		out.Result = &runResultJSON{Verdict: r.Verdict, Message: r.Message, Compile: r.Compile, Usage: r.Usage, Tests: []runTestJSON{}}
		for i, t := range r.Tests {
			one := runTestJSON{
				Index: t.Index, Name: t.Name, Verdict: t.Verdict, Usage: t.Usage, ExitCode: t.ExitCode, ExitSignal: t.ExitSignal, Message: t.Message,
			}
			if i < len(run.Report.Outputs) {
				o := run.Report.Outputs[i]
				one.Stdout, one.StdoutBase64 = textOf(o.Stdout)
				one.Stderr, one.StderrBase64 = textOf(o.Stderr)
				one.StdoutCut, one.StderrCut = o.StdoutCut, o.StderrCut
			}
			out.Result.Tests = append(out.Result.Tests, one)
		}
	}
	return out
}

// textOf returns bytes as text, and in Base64 where the text cannot say it all.
func textOf(b []byte) (text, encoded string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), base64.StdEncoding.EncodeToString(b)
}

// runEndedWithout says why a run ended without a result; "" if it did not.
func runEndedWithout(run *judge.Run, v viewer) string {
	return ending{"run", "program", sendAgain}.of(run.Status, run.LastError, run.Author, v)
}

// runEvents streams what happens to a run.
func (s *Server) runEvents(c *fiber.Ctx) error {
	run, err := s.runFor(c)
	if err != nil {
		return err
	}
	return s.stream(c, run.JobID, run.Status)
}
