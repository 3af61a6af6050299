package judge0

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deepoj/host/judge"
)

// ErrNotUTF8 says that a field of a submission cannot be told without Base64.
var ErrNotUTF8 = errors.New(NotUTF8("this submission"))

// NotUTF8 says it of whose fields cannot be told.
func NotUTF8(whose string) string {
	return "some attributes for " + whose + " cannot be converted to UTF-8, use base64_encoded=true query parameter"
}

// defaultFields are those of an answer unless the request names others.
var defaultFields = []string{"stdout", "time", "memory", "stderr", "token", "compile_output", "message", "status"}

// Prefix begins the idempotency keys of submissions; their tokens follow.
const Prefix = "judge0:"

// view is a submission on its way to a client.
type view struct {
	run     *judge.Run
	asked   Asked
	encoded bool
	find    func(id int) Language
}

// text is a field that a request may have in Base64.
type text []byte

// field is something that can be told of a submission.
type field struct {
	name string
	of   func(*view) any
}

// fields are what can be told: those of fields=*, in its order, and then ours.
func fields() []field { return append(theirs(), ours()...) }

// ours are told where they are named: strict clients refuse what they do not know.
func ours() []field {
	return []field{
		{"started_at", func(v *view) any { return stamp(v.run.Started) }},
		{"queued_at", func(v *view) any { return stamp(&v.run.Created) }},
		{"tests", func(v *view) any { return v.tests() }},
	}
}

// theirs are those that every client knows.
func theirs() []field {
	return []field{
		{"source_code", func(v *view) any {
			switch {
			case len(v.run.Asked.Sources) > 0:
				return text(v.run.Asked.Sources[0].Text)
			case v.asked.LanguageID == Executable && len(v.run.Asked.Files) > 0:
				return text(v.run.Asked.Files[0].Data)
			}
			return nil
		}},
		{"language_id", func(v *view) any { return v.asked.LanguageID }},
		{"stdin", func(v *view) any { return v.input(func(t judge.RunTest) []byte { return t.Input }) }},
		{"expected_output", func(v *view) any {
			return v.input(func(t judge.RunTest) []byte {
				if t.Expected == nil {
					return nil
				}
				return append([]byte{}, *t.Expected...)
			})
		}},
		{"stdout", func(v *view) any { return v.output(func(o judge.RunOutput) []byte { return o.Stdout }) }},
		{"status_id", func(v *view) any { return statusOfRun(v.run).ID }},
		{"created_at", func(v *view) any { return stamp(&v.run.Created) }},
		{"finished_at", func(v *view) any { return stamp(v.run.Finished) }},
		{"time", func(v *view) any { return v.ranFor(func(u judge.Usage) int64 { return u.CPUMillis }) }},
		{"memory", func(v *view) any {
			if u := v.usage(); u != nil {
				return u.MemoryKiB
			}
			return nil
		}},
		{"stderr", func(v *view) any { return v.output(func(o judge.RunOutput) []byte { return o.Stderr }) }},
		{"token", func(v *view) any { return Token(v.run) }},
		{"number_of_runs", func(v *view) any { return int64(v.asked.Runs) }},
		{"cpu_time_limit", func(v *view) any { return decimal(v.asked.CPUTime) }},
		{"cpu_extra_time", func(v *view) any { return decimal(v.asked.CPUExtra) }},
		{"wall_time_limit", func(v *view) any { return decimal(v.asked.WallTime) }},
		{"memory_limit", func(v *view) any { return int64(v.asked.Memory) }},
		{"stack_limit", func(v *view) any { return int64(v.asked.Stack) }},
		{"max_processes_and_or_threads", func(v *view) any { return int64(v.asked.Processes) }},
		{"enable_per_process_and_thread_time_limit", func(v *view) any { return v.asked.PerTime }},
		{"enable_per_process_and_thread_memory_limit", func(v *view) any { return v.asked.PerMemory }},
		{"max_file_size", func(v *view) any { return int64(v.asked.FileSize) }},
		{"compile_output", func(v *view) any {
			if r := v.run.Result; r != nil && r.Compile != nil && r.Compile.Output != "" {
				return text(r.Compile.Output)
			}
			return nil
		}},
		{"exit_code", func(v *view) any {
			switch t := v.decisive(); {
			case t == nil:
				return nil
			case t.ExitSignal != 0 || t.Verdict == judge.TLE || t.Verdict == judge.MLE || t.Verdict == judge.OLE:
				return 0
			default:
				return t.ExitCode
			}
		}},
		{"exit_signal", func(v *view) any {
			if t := v.decisive(); t != nil && t.ExitSignal != 0 {
				return t.ExitSignal
			}
			return nil
		}},
		{"message", func(v *view) any {
			if said := v.message(); said != "" {
				return text(said)
			}
			return nil
		}},
		{"wall_time", func(v *view) any { return v.ranFor(func(u judge.Usage) int64 { return u.WallMillis }) }},
		{"compiler_options", func(v *view) any { return v.asked.Options }},
		{"command_line_arguments", func(v *view) any { return v.asked.Arguments }},
		{"redirect_stderr_to_stdout", func(v *view) any { return v.asked.MergeStderr }},
		{"callback_url", func(v *view) any { return v.asked.CallbackURL }},
		{"additional_files", func(v *view) any {
			if v.asked.Archive == nil {
				return nil
			}
			return toBase64(v.asked.Archive)
		}},
		{"enable_network", func(v *view) any { return v.asked.Network }},
		{"status", func(v *view) any { return statusOfRun(v.run) }},
		{"language", func(v *view) any {
			l := v.find(v.asked.LanguageID)
			return map[string]any{"id": l.ID, "name": l.Name}
		}},
	}
}

// ReadFields reads the parameter fields: names with commas between them, or * for all that every client knows; none are
// those of [Encode]. The error names those that do not exist.
func ReadFields(list string) ([]string, error) {
	var names, unknown []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
		case name == "*":
			for _, f := range theirs() {
				names = append(names, f.name)
			}
		case slices.ContainsFunc(fields(), func(f field) bool { return f.name == name }):
			names = append(names, name)
		default:
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("invalid fields: [%s]", strings.Join(unknown, ", "))
	}
	return names, nil
}

// Token returns what names a submission to clients.
func Token(r *judge.Run) string { return strings.TrimPrefix(r.Token, Prefix) }

// Encode returns the fields of a submission, or [ErrNotUTF8]. Without names they are those that clients expect then, and
// tests where the submission came with several: who sent that field knows it.
func Encode(r *judge.Run, names []string, encoded bool, languages []judge.Language) (map[string]any, error) {
	v := &view{run: r, encoded: encoded, find: func(id int) Language {
		if l := Find(languages, id); l != nil {
			return Show(l, id)
		}
		return Language{ID: id, Name: r.Asked.Language}
	}}
	if len(r.Asked.Asked) > 0 {
		if err := json.Unmarshal(r.Asked.Asked, &v.asked); err != nil {
			return nil, fmt.Errorf("run %d: read what was asked: %w", r.JobID, err)
		}
	}
	if names == nil {
		names = defaultFields
		if v.asked.SeveralInputs {
			names = append(slices.Clone(names), "tests")
		}
	}
	out := map[string]any{}
	for _, f := range fields() {
		if !slices.Contains(names, f.name) {
			continue
		}
		value, err := v.told(f.of(v))
		if err != nil {
			return nil, err
		}
		out[f.name] = value
	}
	return out, nil
}

// told makes a text what the request asks for, also in what holds texts.
func (v *view) told(value any) (any, error) {
	switch value := value.(type) {
	case text:
		if v.encoded {
			return toBase64(value), nil
		}
		if !utf8.Valid(value) {
			return nil, ErrNotUTF8
		}
		return string(value), nil
	case []map[string]any:
		for _, one := range value {
			for name, member := range one {
				said, err := v.told(member)
				if err != nil {
					return nil, err
				}
				one[name] = said
			}
		}
	}
	return value, nil
}

// base64Line is the length of a line of Base64.
const base64Line = 60

// toBase64 encodes with a line break after every line, as clients are used to.
func toBase64(b []byte) string {
	var out strings.Builder
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(b)), base64Line) {
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.String()
}

// input returns a part of the only test; several are in the field tests.
func (v *view) input(of func(judge.RunTest) []byte) any {
	if v.asked.SeveralInputs || len(v.run.Asked.Tests) == 0 {
		return nil
	}
	if b := of(v.run.Asked.Tests[0]); b != nil {
		return text(b)
	}
	return nil
}

// at returns the index of the test that decided, or of the first one; -1 if there is none.
func (v *view) at() int {
	if v.run.Result == nil || len(v.run.Result.Tests) == 0 {
		return -1
	}
	return max(0, slices.IndexFunc(v.run.Result.Tests, func(t judge.TestResult) bool { return t.Verdict != judge.AC }))
}

func (v *view) decisive() *judge.TestResult {
	if i := v.at(); i >= 0 {
		return &v.run.Result.Tests[i]
	}
	return nil
}

func (v *view) output(of func(judge.RunOutput) []byte) any {
	if i := v.at(); i >= 0 && i < len(v.run.Report.Outputs) {
		return orNull(of(v.run.Report.Outputs[i]))
	}
	return nil
}

func orNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return text(b)
}

func (v *view) usage() *judge.Usage {
	if t := v.decisive(); t != nil {
		return &t.Usage
	}
	return nil
}

// ranFor returns a time of the run in seconds, as clients read it.
func (v *view) ranFor(millis func(judge.Usage) int64) any {
	u := v.usage()
	if u == nil {
		return nil
	}
	return decimal(float64(millis(*u)) / 1000)
}

// decimal writes a number of seconds as clients read it: as a text with a point.
func decimal(n float64) string {
	said := strconv.FormatFloat(math.Round(n*1000)/1000, 'f', -1, 64)
	if !strings.Contains(said, ".") {
		said += ".0"
	}
	return said
}

func stamp(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// message says how the program ended, unless well.
func (v *view) message() string {
	switch r := v.run; {
	case r.Status == judge.Cancelled:
		return "The submission was cancelled."
	case r.Status == judge.Dead:
		return "The judging system failed on every try."
	case r.Result == nil:
	case r.Result.Verdict == judge.JE || r.Result.Verdict == judge.SE:
		return r.Result.Message
	case v.decisive() != nil:
		return v.ended(*v.decisive())
	}
	return ""
}

func (v *view) ended(t judge.TestResult) string {
	switch {
	case t.Verdict == judge.TLE && float64(t.Usage.CPUMillis) < 1000*v.asked.CPUTime:
		return "Time limit exceeded (wall clock)"
	case t.Verdict == judge.TLE:
		return "Time limit exceeded"
	case t.Verdict == judge.RE && t.ExitSignal != 0:
		return fmt.Sprintf("Caught fatal signal %d", t.ExitSignal)
	case t.Verdict == judge.RE:
		return fmt.Sprintf("Exited with error code %d", t.ExitCode)
	case t.Verdict == judge.MLE || t.Verdict == judge.OLE:
		return t.Message
	}
	return ""
}

// tests returns what came of every test of a submission with several, or null.
func (v *view) tests() any {
	if !v.asked.SeveralInputs || v.run.Result == nil {
		return nil
	}
	out := make([]map[string]any, len(v.run.Result.Tests))
	for i, t := range v.run.Result.Tests {
		one := &view{asked: v.asked, run: &judge.Run{Job: judge.Job{
			Status: judge.Finished, Result: &judge.Result{Verdict: t.Verdict, Tests: []judge.TestResult{t}},
		}}}
		if i < len(v.run.Report.Outputs) {
			one.run.Report.Outputs = v.run.Report.Outputs[i : i+1]
		}
		out[i] = map[string]any{}
		for _, f := range fields() {
			switch f.name {
			case "stdout", "stderr", "time", "wall_time", "memory", "exit_code", "exit_signal", "message", "status":
				out[i][f.name] = f.of(one)
			}
		}
	}
	return out
}
