package solve

import (
	"encoding/json"
	"fmt"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// readRun reads the JSON of POST /api/v1/runs.
func readRun(body []byte, key string) (newRun, error) {
	f, err := site.ParseFields(body, "problem", "samples", "language", "source", "sources", "stdin", "expected_output", "tests",
		"args", "compiler_options", "limits", "merge_stderr")
	if err != nil {
		return newRun{}, err
	}
	in := newRun{Program: Program{Language: f.Text("language"), Key: key, Fields: V1Fields}}
	if f.Has("problem") {
		in.Problem = f.Text("problem")
	}
	in.Sources = f.Program()
	p := &in.payload
	f.Value("samples", "a truth value", &p.Samples)
	f.Value("merge_stderr", "a truth value", &p.MergeStderr)
	f.Value("args", "a list of strings", &p.Args)
	f.Value("compiler_options", "a list of strings", &p.Options)
	readLimits(f, &p.Limits)
	readTests(f, p)
	return in, f.Wrong.Err()
}

// readLimits reads the field limits.
func readLimits(f *site.Fields, into *judge.RunLimits) {
	if !f.Has("limits") {
		return
	}
	in, err := site.ParseFields(f.Raw["limits"], "cpu_ms", "wall_ms", "memory_kib", "output_kib", "processes")
	if err != nil {
		f.Wrong.Add(site.WrongField("limits", site.ReasonWrong, "The field has to be an object, not %s.", site.KindOf(f.Raw["limits"])))
		return
	}
	for name, value := range map[string]any{
		"cpu_ms": &into.CPUMillis, "wall_ms": &into.WallMillis, "memory_kib": &into.MemoryKiB, "output_kib": &into.OutputKiB, "processes": &into.Processes,
	} {
		in.Value(name, "a whole number", value)
		if in.Has(name) && string(in.Raw[name]) == "0" {
			in.Wrong.Add(site.WrongField(name, site.ReasonInvalid, "The limit has to be more than 0."))
		}
	}
	for _, e := range in.Wrong {
		f.Wrong.Add(site.WrongField("limits."+e.Field, e.Reason, "%s", e.Remedy))
	}
}

// readTests reads the inputs, which come alone or as a list.
func readTests(f *site.Fields, p *judge.RunPayload) {
	if f.Has("tests") {
		if f.Has("stdin") || f.Has("expected_output") {
			f.Wrong.Add(site.WrongField("tests", site.ReasonInvalid, "Send either tests, or stdin and expected_output."))
		}
		var list []json.RawMessage
		f.Value("tests", "a list of objects", &list)
		for i, raw := range list {
			at := fmt.Sprintf("tests[%d]", i)
			one, err := site.ParseFields(raw, "stdin", "expected_output")
			if err != nil {
				f.Wrong.Add(site.WrongField(at, site.ReasonWrong, "The entry has to be an object, not %s.", site.KindOf(raw)))
				continue
			}
			p.Tests = append(p.Tests, readTest(one))
			for _, e := range one.Wrong {
				f.Wrong.Add(site.WrongField(at+"."+e.Field, e.Reason, "%s", e.Remedy))
			}
		}
		return
	}
	if !p.Samples || f.Has("stdin") || f.Has("expected_output") {
		p.Tests = []judge.RunTest{readTest(f)}
	}
}

// readTest reads one input, and the output that is expected.
func readTest(f *site.Fields) (t judge.RunTest) {
	if f.Has("stdin") {
		t.Input = []byte(f.Text("stdin"))
	}
	if f.Has("expected_output") {
		expected := []byte(f.Text("expected_output"))
		t.Expected = &expected
	}
	return t
}
