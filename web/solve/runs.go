package solve

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/site"
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
	Program
	payload judge.RunPayload
}

// acceptRun checks a run and stores it. When it returns, the run and its queue row are committed.
func (s *Room) acceptRun(ctx context.Context, v site.Viewer, in newRun) (sql.Receipt, error) {
	var none sql.Receipt
	offers, err := s.Catalog.Runnable(ctx, in.Language)
	if err != nil {
		return none, err
	}
	var problem *judge.Problem
	if in.Problem != "" {
		to, err := s.placeOf(ctx, v, in.Program)
		if err != nil {
			return none, err
		}
		problem = to.problem
	}
	wrong := checkRun(in, problem, offers, s.Config.MaxRun)
	if err := wrong.Err(); err != nil {
		return none, err
	}
	in.NameSources(offers)
	in.payload.Problem, in.payload.Language, in.payload.Sources = in.Problem, in.Language, in.Sources
	return s.storeRun(ctx, v, in.payload, in.Key, runPriority)
}

// storeRun stores a run that was checked.
func (s *Room) storeRun(ctx context.Context, v site.Viewer, p judge.RunPayload, key string, priority int) (sql.Receipt, error) {
	p.SchemaVersion, p.ContentType = judge.PayloadVersion, judge.RunType
	payload, err := json.Marshal(p)
	if err != nil {
		return sql.Receipt{}, fmt.Errorf("encode a run: %w", err)
	}
	receipt, err := s.SubmitJob(ctx, sql.NewJob{
		Kind: judge.KindRun, Problem: p.Problem, Language: p.Language, Author: v.Name, GroupKey: v.Name, IdempotencyKey: key,
		TraceID: site.TraceOf(ctx), Sources: p.Sources, Payload: payload, Priority: priority,
	})
	if err != nil {
		return receipt, V1Fields.Rename(err)
	}
	return receipt, nil
}

// checkRun returns everything that is wrong with a run. Problem is nil if none is named, or there is none of that name.
func checkRun(in newRun, problem *judge.Problem, offers []site.Offer, most judge.RunLimits) site.WrongFields {
	var wrong site.WrongFields
	if in.Problem != "" {
		wrong = CheckProgram(in.Program, problem, offers)
	} else {
		wrong.Add(checkLanguage(in.Program, nil, offers))
		for _, e := range checkSources(in.Program, maxFreeSource) {
			wrong.Add(e)
		}
		wrong.Add(site.CheckKey(in.Fields.Key, in.Key))
	}
	if in.Language == judge.AnswerLanguage {
		wrong.Add(site.WrongField(in.Fields.Language, "not_allowed", "Answers are no program that can be run."))
	}
	p := in.payload
	switch {
	case p.Samples && in.Problem == "":
		wrong.Add(site.WrongField("samples", site.ReasonInvalid, "Only a problem has samples; name it in the field problem."))
	case p.Samples && len(p.Tests) > 0:
		wrong.Add(site.WrongField("samples", site.ReasonInvalid, "Send either inputs of your own or samples."))
	case p.Samples && problem != nil && len(problem.Samples) == 0:
		wrong.Add(site.WrongField("samples", site.ReasonEmpty, "The problem has no samples."))
	case len(p.Tests) > maxRunTests:
		wrong.Add(site.WrongField("tests", "too_many", "There are %d tests; at most %d are taken.", len(p.Tests), maxRunTests))
	}
	wrong.Add(checkWords("args", p.Args))
	wrong.Add(checkWords("compiler_options", p.Options))
	for _, e := range checkRunLimits(p.Limits, most) {
		wrong.Add(e)
	}
	return wrong
}

// maxFreeSource bounds the source of a run without a problem, in bytes.
const maxFreeSource = 256 << 10

func checkWords(field string, words []string) *judge.FieldError {
	if len(words) > maxRunWords {
		return site.WrongField(field, "too_many", "There are %d arguments; at most %d are taken.", len(words), maxRunWords)
	}
	for _, w := range words {
		if len(w) > maxRunWord || strings.ContainsRune(w, 0) || !utf8.ValidString(w) {
			return site.WrongField(field, site.ReasonInvalid, "An argument has to be UTF-8 text of at most %d bytes without NUL.", maxRunWord)
		}
	}
	return nil
}

// minRunMemory is the least memory that a run may be given, in KiB.
const minRunMemory = 2048

// checkRunLimits compares limits with the most that this server gives.
func checkRunLimits(l, most judge.RunLimits) site.WrongFields {
	var wrong site.WrongFields
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
			wrong.Add(site.WrongField("limits."+f.name, site.ReasonInvalid, "The limit has to be from %d to %d.", f.min, f.max))
		}
	}
	return wrong
}

// apiRun handles POST /api/v1/runs.
func (s *Room) apiRun(c *fiber.Ctx) error {
	if err := site.NeedJSON(c); err != nil {
		return err
	}
	in, err := readRun(c.Body(), c.Get("Idempotency-Key"))
	if err != nil {
		return err
	}
	receipt, err := s.acceptRun(c.UserContext(), site.ViewerOf(c), in)
	if err != nil {
		return err
	}
	id := strconv.FormatInt(receipt.JobID, 10)
	c.Set(fiber.HeaderLocation, "/api/v1/runs/"+id)
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": receipt.JobID, "url": site.RunURL(receipt.JobID), "existing": receipt.Existing})
}

// apiRunStatus handles GET /api/v1/runs/:id?wait=SECONDS.
func (s *Room) apiRunStatus(c *fiber.Ctx) error {
	run, err := s.job.RunFor(c)
	if err != nil {
		return err
	}
	wait, err := job.WaitOf(c)
	if err != nil {
		return err
	}
	if wait > 0 && !run.Status.Terminal() {
		if err := s.job.JobsSettled(c, wait, run.JobID); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), job.LookTime)
		defer cancel()
		if run, err = s.Store.Run(ctx, run.JobID); err != nil {
			return fmt.Errorf("look at a run: %w", err)
		}
	}
	place, err := s.job.PlaceOf(c.UserContext(), site.ViewerOf(c), run.JobID, run.Status)
	if err != nil && wait == 0 {
		return err
	}
	return c.JSON(PublicRun(run, place, site.ViewerOf(c)))
}

// runJSON is a run as /api/v1 shows it.
type runJSON struct {
	job.StandingJSON

	Problem  string         `json:"problem,omitempty"`
	Language string         `json:"language"`
	Result   *runResultJSON `json:"result"`
}

// runResultJSON is what came of a run.
type runResultJSON struct {
	Verdict judge.Verdict  `json:"verdict"`
	Message string         `json:"message,omitempty"`
	Compile *judge.Compile `json:"compile,omitempty"`
	Usage   judge.Usage    `json:"usage"`
	Tests   []runTestJSON  `json:"tests"`
}

// runInput is a test of a run that is asked for, in its description.
type runInput struct {
	Stdin    string  `json:"stdin,omitempty"`
	Expected *string `json:"expected_output,omitempty"`
}

// runTestJSON is what a program did on a test. An output that is not UTF-8 comes in Base64 besides.
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

// PublicRun returns what v may see of a run. Place may be nil.
func PublicRun(run *judge.Run, place *judge.Place, v site.Viewer) runJSON {
	out := runJSON{StandingJSON: job.PublicStanding(run, place, v), Problem: run.Asked.Problem, Language: run.Asked.Language}
	if r := job.PublicResult(run.Result, v, run.Told); r != nil {
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
