package wire

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/quick"
	"time"
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
	requests := func(q RunRequest) bool {
		b, err := Encode(Request{Op: OpRun, Run: &q})
		if err != nil || b[0] == '{' {
			t.Fatalf("encoded as %q: %v", b, err)
		}
		var got Request
		return Decode(b, &got) == nil && got.Op == OpRun && sameJSON(t, q, got.Run) && got.Run.Program == q.Program
	}
	results := func(r Result) bool {
		b, err := Encode(Reply{Result: &r})
		if err != nil || b[0] == '{' {
			t.Fatalf("encoded as %q: %v", b, err)
		}
		var got Reply
		return Decode(b, &got) == nil && *got.Result == r
	}
	for _, f := range []any{requests, results} {
		if err := quick.Check(f, &quick.Config{MaxCount: 300}); err != nil {
			t.Error(err)
		}
	}
}

func TestOtherMessagesAreJSON(t *testing.T) {
	for _, v := range []any{Request{Op: OpStatus}, Request{Op: OpRun}, Reply{}, Reply{Error: "no", Result: &Result{}}, Reply{Status: &Status{Slots: 2}}} {
		b, err := Encode(v)
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
	for _, v := range []any{Request{Op: OpRun, Run: &RunRequest{Program: "./a", Args: []string{"b", ""}}}, Reply{Result: &Result{Verdict: OK}}, Request{Op: OpPut}} {
		b, err := Encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(append(b, 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var q, again Request
		if Decode(b, &q) == nil {
			if c, err := Encode(q); err != nil || Decode(c, &again) != nil || !sameJSON(t, q, again) {
				t.Errorf("%q is read as %+v and then as %+v: %v", b, q, again, err)
			}
		}
		var r, rAgain Reply
		if Decode(b, &r) == nil {
			if c, err := Encode(r); err != nil || Decode(c, &rAgain) != nil || !sameJSON(t, r, rAgain) {
				t.Errorf("%q is read as %+v and then as %+v: %v", b, r, rAgain, err)
			}
		}
	})
}

func TestTheLineOfAReportIsWhatPackageJSONWrites(t *testing.T) {
	same := func(p Report) bool {
		want, err := json.Marshal(p)
		return err == nil && string(p.Line()) == string(want)+"\n"
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 500}); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "plain", `a "quoted" \ text`, "<b>&amp;</b>", "a\tline\n", "caf\u00e9 \u2028", "\xff", "\x7f"} {
		if p := (Report{SandboxError: text, Degraded: []string{text, "second"}}); !same(p) {
			t.Errorf("%q becomes %s", text, p.Line())
		}
	}
}

func TestALineKeepsTimesToTheMicrosecond(t *testing.T) {
	r := Result{Verdict: OK, CPU: 1_234_500 * time.Nanosecond, Wall: 2 * time.Millisecond}
	p, err := ParseReport(NewReport(1, 2, r, nil).Line(), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Result(); got.CPU != 1235*time.Microsecond || got.Wall != r.Wall || p.TimeMillis != 2 {
		t.Errorf("%s and %s, %d ms", got.CPU, got.Wall, p.TimeMillis)
	}
	p.TimeMicros, p.WallMicros = 0, 0 // a line of a version before
	if p, err = ParseReport(p.Line(), 1, 2); err != nil || p.Result().CPU != 2*time.Millisecond || p.Result().Wall != r.Wall {
		t.Errorf("a line without microseconds says %s and %s: %v", p.Result().CPU, p.Result().Wall, err)
	}
}
