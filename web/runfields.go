package web

import (
	"encoding/json"
	"fmt"

	"deepoj/host/judge"
)

// readRun reads the JSON of POST /api/v1/runs.
func readRun(body []byte, key string) (newRun, error) {
	f, err := parseFields(body, "problem", "samples", "language", "source", "sources", "stdin", "expected_output", "tests",
		"args", "compiler_options", "limits", "merge_stderr")
	if err != nil {
		return newRun{}, err
	}
	in := newRun{handIn: handIn{Language: f.text("language"), Key: key, fields: runFields}}
	if f.has("problem") {
		in.Problem = f.text("problem")
	}
	in.Sources = f.program()
	p := &in.payload
	f.value("samples", "a truth value", &p.Samples)
	f.value("merge_stderr", "a truth value", &p.MergeStderr)
	f.value("args", "a list of strings", &p.Args)
	f.value("compiler_options", "a list of strings", &p.Options)
	f.limits(&p.Limits)
	f.tests(p)
	return in, f.wrong.err()
}

// value reads a field that may be missing.
func (f *fields) value(name, what string, into any) {
	if f.has(name) && json.Unmarshal(f.raw[name], into) != nil {
		f.wrong.add(wrongField(name, reasonWrong, "The field has to be %s, not %s.", what, kindOf(f.raw[name])))
	}
}

// limits reads the field limits.
func (f *fields) limits(into *judge.RunLimits) {
	if !f.has("limits") {
		return
	}
	in, err := parseFields(f.raw["limits"], "cpu_ms", "wall_ms", "memory_kib", "output_kib", "processes")
	if err != nil {
		f.wrong.add(wrongField("limits", reasonWrong, "The field has to be an object, not %s.", kindOf(f.raw["limits"])))
		return
	}
	for name, value := range map[string]any{
		"cpu_ms": &into.CPUMillis, "wall_ms": &into.WallMillis, "memory_kib": &into.MemoryKiB, "output_kib": &into.OutputKiB, "processes": &into.Processes,
	} {
		in.value(name, "a whole number", value)
		if in.has(name) && string(in.raw[name]) == "0" {
			in.wrong.add(wrongField(name, reasonInvalid, "The limit has to be more than 0."))
		}
	}
	for _, e := range in.wrong {
		f.wrong.add(wrongField("limits."+e.Field, e.Reason, "%s", e.Remedy))
	}
}

// tests reads the inputs, which come alone or as a list.
func (f *fields) tests(p *judge.RunPayload) {
	if f.has("tests") {
		if f.has("stdin") || f.has("expected_output") {
			f.wrong.add(wrongField("tests", reasonInvalid, "Send either tests, or stdin and expected_output."))
		}
		var list []json.RawMessage
		f.value("tests", "a list of objects", &list)
		for i, raw := range list {
			at := fmt.Sprintf("tests[%d]", i)
			one, err := parseFields(raw, "stdin", "expected_output")
			if err != nil {
				f.wrong.add(wrongField(at, reasonWrong, "The entry has to be an object, not %s.", kindOf(raw)))
				continue
			}
			p.Tests = append(p.Tests, one.test())
			for _, e := range one.wrong {
				f.wrong.add(wrongField(at+"."+e.Field, e.Reason, "%s", e.Remedy))
			}
		}
		return
	}
	if !p.Samples || f.has("stdin") || f.has("expected_output") {
		p.Tests = []judge.RunTest{f.test()}
	}
}

func (f *fields) test() (t judge.RunTest) {
	if f.has("stdin") {
		t.Input = []byte(f.text("stdin"))
	}
	if f.has("expected_output") {
		expected := []byte(f.text("expected_output"))
		t.Expected = &expected
	}
	return t
}
