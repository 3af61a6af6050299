package web

import (
	"encoding/json"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deepoj/host/judge"
	"deepoj/sql"
)

func TestFiguresReadWell(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		secondsText(4): "0.004 s", secondsText(1000): "1 s", secondsText(2110): "2.11 s", secondsText(120): "0.120 s",
		bytesText(64 << 10): "64 KiB", bytesText(1): "1 byte", bytesText(256 << 20): "256 MiB", bytesText(1536): "1.5 KiB",
		memoryText(512): "512 KiB", memoryText(48_212): "47.1 MiB", memoryText(262_144): "256 MiB",
		ordinal(1): "1st", ordinal(2): "2nd", ordinal(3): "3rd", ordinal(11): "11th", ordinal(112): "112th", ordinal(101): "101st",
		pointsText(50.0): "50", pointsText(new(33.25)): "33.25", pointsText((*float64)(nil)): "–",
		waitText(1500 * time.Millisecond): "2 s", waitText(3 * time.Minute): "3 min", waitText(3 * time.Hour): "3 h",
		agoText(0): "just now", agoText(90 * time.Second): "1 min ago", agoText(72 * time.Hour): "3 days ago",
		plural(1, "test", "tests"): "1 test", plural(int64(0), "test", "tests"): "0 tests",
		groupTitle("secret/group1"): "Group 1", groupTitle("secret/02-large"): "02-large", groupTitle("sample"): "Samples",
		groupTitle("secret/subtask-3"): "subtask-3", groupTitle("secret/3"): "Group 3",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAVerdictHasTextShapeAndColour(t *testing.T) {
	t.Parallel()
	css, err := staticFiles.ReadFile("static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	shapesFile, err := templateFiles.ReadFile("templates/_shapes.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range append([]judge.Verdict{""}, judge.Verdicts...) {
		if !strings.Contains(string(css), ".v-"+strings.ToLower(string(v))+" ") && !strings.Contains(string(css), ".v-"+strings.ToLower(string(v))+",") {
			t.Errorf("%q has no colour", v)
		}
		if !strings.Contains(string(shapesFile), `id="s-`+shapeOf(v)+`"`) {
			t.Errorf("%q has no shape", v)
		}
		if v != "" && v != judge.SE && details[v] == "" {
			t.Errorf("%q has no explanation", v)
		}
	}
}

func TestALanguageIsOpenIfAWorkerServesItOrOnceDid(t *testing.T) {
	t.Parallel()
	cpp := judge.Language{ID: "cpp", Name: "C++", Available: true}
	broken := judge.Language{ID: "cpp", Name: "C++", Unavailable: "g++ was not found"}
	listed := func(l judge.Language, withdrawn bool) []sql.OfferedLanguage {
		return []sql.OfferedLanguage{{Language: l, Withdrawn: withdrawn}}
	}
	unfit := judge.WorkerInfo{Unfit: "disk", Languages: []judge.Language{cpp}}
	for name, tt := range map[string]struct {
		workers []judge.WorkerInfo
		known   []sql.OfferedLanguage
		reason  judge.Reason
		waits   string // part of what a program waits for
	}{
		"one of two has it":                {[]judge.WorkerInfo{{Languages: []judge.Language{broken}}, {Languages: []judge.Language{cpp}}}, nil, "", ""},
		"in the other order":               {[]judge.WorkerInfo{{Languages: []judge.Language{cpp}}, {Languages: []judge.Language{broken}}}, nil, "", ""},
		"nobody ever had it":               {[]judge.WorkerInfo{{Languages: []judge.Language{broken}}}, nil, reasonUnavailable, ""},
		"the only one has lost it":         {[]judge.WorkerInfo{{Languages: []judge.Language{broken}}}, listed(cpp, false), "", "No worker is running that has C++"},
		"nobody lives":                     {nil, listed(cpp, false), "", "No worker is running that has C++"},
		"whoever has it takes no jobs":     {[]judge.WorkerInfo{unfit}, listed(cpp, false), "", "take no jobs"},
		"one of those who have it is well": {[]judge.WorkerInfo{unfit, {Languages: []judge.Language{cpp}}}, listed(cpp, false), "", ""},
		"staff took it off":                {[]judge.WorkerInfo{{Languages: []judge.Language{cpp}}}, listed(cpp, true), reasonWithdrawn, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			offers := offersOf(tt.workers, tt.known)
			if len(offers) != 1 || offers[0].ID != "cpp" || offers[0].Reason != tt.reason || (tt.waits == "") != (offers[0].Waits == "") || !strings.Contains(offers[0].Waits, tt.waits) {
				t.Fatalf("got %+v", offers)
			}
			if !offers[0].Open() && !strings.HasSuffix(offers[0].Why, ".") {
				t.Errorf("the reason %q is no sentence", offers[0].Why)
			}
		})
	}
}

func TestOnlyTheNewestAttemptIsShownRunning(t *testing.T) {
	t.Parallel()
	data := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	test := func(attempt int32, index int) judge.Event {
		return judge.Event{Kind: judge.EventTest, AttemptID: attempt, Data: data(eventData{Test: &judge.TestResult{Index: index, Verdict: judge.AC}, Total: 3})}
	}
	events := []judge.Event{
		{Kind: judge.EventSubmitted},
		{Kind: judge.EventClaimed, AttemptID: 1},
		test(1, 1), test(1, 2),
		{Kind: judge.EventWorkerLost, AttemptID: 1},
		{Kind: judge.EventClaimed, AttemptID: 2},
		test(1, 3), test(2, 1),
	}
	if r := latestRun(events); r == nil || r.attempt != 2 || len(r.tests) != 1 || r.total != 3 {
		t.Errorf("got %+v", r)
	}
	if r := latestRun(events[:5]); r != nil {
		t.Errorf("after its worker was lost, attempt %d is shown", r.attempt)
	}
	lines, eventful := history(events, viewer{})
	if !eventful || !strings.Contains(lines[2].Text, "the worker was lost after 2 tests") {
		t.Errorf("the history is %+v", lines)
	}
}

func FuzzParseFields(f *testing.F) {
	f.Add([]byte(`{"problem": "a", "language": "b", "sources": [{"name": "x", "text": "y"}]}`))
	f.Add([]byte(`{"problem": {"a": [1, {}]}, "x": 1e999}`))
	f.Add([]byte(`{"problem": "\ud83d\ude00", "language": "\ud83d"}`))
	halves := regexp.MustCompile(`(?i)\\ud[89a-f]`) // of pairs, perhaps without the other
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := parseFields(body, "problem", "language", "sources")
		var want map[string]json.RawMessage
		stdErr := json.Unmarshal(body, &want)
		isObject := stdErr == nil && want != nil && utf8.Valid(body)
		if err == nil && !isObject || err != nil && isObject && !halves.Match(body) {
			t.Fatalf("parseFields(%q): %v; encoding/json: %v, object %t", body, err, stdErr, isObject)
		}
		if err != nil {
			return
		}
		if len(got.raw) != len(want) {
			t.Fatalf("parseFields(%q) has %d fields, encoding/json %d", body, len(got.raw), len(want))
		}
		problem := got.text("problem")
		got.sources("sources")
		var std string
		if json.Unmarshal(want["problem"], &std) == nil && std != problem {
			t.Errorf("problem = %q, encoding/json says %q", problem, std)
		}
	})
}

func TestABodyThatIsNoJSONSaysWhere(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"source": "a\ud83d"}`: "surrogate", `{"source": }`: "offset", `{"source": "a"`: "EOF", ``: "EOF", `["source"]`: "has to be a JSON object",
		`{"source": "a"} x`: "not one JSON object", `{source: "a"}`: "offset",
	} {
		_, err := parseFields([]byte(body), "source")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is answered with %v, want a word of %q", body, err, want)
		}
	}
}

func FuzzSplitHost(f *testing.F) {
	for _, seed := range []string{"localhost:8080", "[::1]:8080", "::1", "a:b:c", "", "[", "]:1", "a@b:1"} {
		f.Add(seed)
	}
	policy := newHostPolicy("127.0.0.1:8080", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, nil)
	ours := map[string]bool{"localhost:8080": true, "127.0.0.1:8080": true, "[::1]:8080": true}
	f.Fuzz(func(t *testing.T, host string) {
		if policy.mayChange(host) != ours[strings.ToLower(host)] {
			t.Errorf("mayChange(%q) = %t", host, policy.mayChange(host))
		}
	})
}

func FuzzShowSources(f *testing.F) {
	f.Add("a\nb\n", 2, 1)
	f.Add("", 0, 0)
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		shown := showSources([]judge.Source{{Name: "a", Text: text}}, &judge.Compile{Diagnostics: []judge.Diagnostic{{Line: line, Column: column}}})
		var back []string
		marks := 0
		for _, l := range shown[0].Lines {
			back = append(back, l.Text)
			marks += len(l.Marks)
		}
		if len(back) != strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1 {
			t.Errorf("%q has %d lines", text, len(back))
		}
		if (marks == 1) != (line >= 1 && line <= len(back)) {
			t.Errorf("line %d of %d has %d marks", line, len(back), marks)
		}
	})
}
