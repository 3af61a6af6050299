package sandbox

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/quick"
)

// sameJSON reports whether a and b are the same as JSON, which knows all fields.
func sameJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

func TestWhatIsEncodedIsDecodedWithAllFields(t *testing.T) {
	// JSON replaces what is not UTF-8, so the texts are compared by themselves.
	requests := func(q runRequest) bool {
		b, err := encode(request{Op: opRun, Run: &q})
		if err != nil || b[0] == '{' {
			t.Fatalf("encoded as %q: %v", b, err)
		}
		var got request
		return decode(b, &got) == nil && got.Op == opRun && sameJSON(t, q, got.Run) && got.Run.Program == q.Program
	}
	results := func(r Result) bool {
		b, err := encode(reply{Result: &r})
		if err != nil || b[0] == '{' {
			t.Fatalf("encoded as %q: %v", b, err)
		}
		var got reply
		return decode(b, &got) == nil && *got.Result == r
	}
	for _, f := range []any{requests, results} {
		if err := quick.Check(f, &quick.Config{MaxCount: 300}); err != nil {
			t.Error(err)
		}
	}
}

func TestOtherMessagesAreJSON(t *testing.T) {
	for _, v := range []any{request{Op: opStatus}, request{Op: opRun}, reply{}, reply{Error: "no", Result: &Result{}}, reply{Status: &Status{Slots: 2}}} {
		b, err := encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b) {
			t.Errorf("%+v is encoded as %q", v, b)
		}
	}
}

// FuzzDecode checks that a message is refused, or says what encoding it again
// says.
func FuzzDecode(f *testing.F) {
	for _, v := range []any{request{Op: opRun, Run: &runRequest{Program: "./a", Args: []string{"b", ""}}}, reply{Result: &Result{Verdict: OK}}, request{Op: opPut}} {
		b, err := encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(append(b, 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var q, again request
		if decode(b, &q) == nil {
			if c, err := encode(q); err != nil || decode(c, &again) != nil || !sameJSON(t, q, again) {
				t.Errorf("%q is read as %+v and then as %+v: %v", b, q, again, err)
			}
		}
		var r, rAgain reply
		if decode(b, &r) == nil {
			if c, err := encode(r); err != nil || decode(c, &rAgain) != nil || !sameJSON(t, r, rAgain) {
				t.Errorf("%q is read as %+v and then as %+v: %v", b, r, rAgain, err)
			}
		}
	})
}

func TestTheLineOfAReportIsWhatPackageJSONWrites(t *testing.T) {
	same := func(p Report) bool {
		want, err := json.Marshal(p)
		return err == nil && string(p.line()) == string(want)+"\n"
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 500}); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "plain", `a "quoted" \ text`, "<b>&amp;</b>", "a\tline\n", "caf\u00e9 \u2028", "\xff", "\x7f"} {
		if p := (Report{SandboxError: text, Degraded: []string{text, "second"}}); !same(p) {
			t.Errorf("%q becomes %s", text, p.line())
		}
	}
}
