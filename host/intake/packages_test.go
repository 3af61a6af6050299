package intake_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/sql/sqltest"
)

// triple is a small package whose submissions keep their promises. It has no time
// limit, so one is found by measuring.
var triple = map[string]string{
	"problem.yaml":                      "problem_format_version: 2025-09\nname: Triple\nuuid: 7a2c9d1e-6f0b-4c58-9d3a-1b2e3f405162\n",
	"statement/problem.en.md":           "Write three times the number.\n",
	"data/sample/1.in":                  "1\n",
	"data/sample/1.ans":                 "3\n",
	"data/secret/2.in":                  "5\n",
	"data/secret/2.ans":                 "15\n",
	"submissions/accepted/right.py":     "print(3 * int(input()))\n",
	"submissions/wrong_answer/three.py": "print(3)\n",
}

// with is triple with other files; an empty one is removed.
func with(files ...string) map[string]string {
	all := maps.Clone(triple)
	for i := 0; i < len(files); i += 2 {
		all[files[i]] = files[i+1]
		if files[i+1] == "" {
			delete(all, files[i])
		}
	}
	return all
}

// zipped makes an archive of files. A content that begins with -> is a link.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if text == "" {
			h.Method = zip.Store // to begin to compress takes long with the race detector
		}
		h.SetMode(0o644)
		if target, link := strings.CutPrefix(text, "->"); link {
			h.SetMode(fs.ModeSymlink | 0o777)
			text = target
		}
		f, err := w.CreateHeader(h)
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// order stores a job about a package and claims it.
func (b *bench) order(t *testing.T, kind judge.Kind, p judge.PackagePayload) judge.Claim {
	t.Helper()
	p.SchemaVersion, p.ContentType, p.By, p.Problem = judge.PayloadVersion, judge.PackageType, "setter", "triple"
	payload, err := json.Marshal(p)
	must(t, err)
	r, err := b.store.Submit(t.Context(), sql.NewJob{Author: "setter", Kind: kind, Payload: payload})
	must(t, err)
	return b.claim(t, r.JobID)
}

// importing stores an archive and the job that imports it.
func (b *bench) importing(t *testing.T, archive []byte, activate bool) judge.Claim {
	t.Helper()
	d, n, err := judgingtest.Get(t).Blobs.Put(t.Context(), bytes.NewReader(archive))
	must(t, err)
	return b.order(t, judge.KindImport, judge.PackagePayload{Archive: string(d), Bytes: n, Activate: activate})
}

// toldOf is what a job about a package reported.
type toldOf struct {
	result judge.Result
	report judge.PackageReport
	steps  []string // and rows
}

func (b *bench) run(ctx context.Context, t *testing.T, job judge.Claim) (x toldOf, err error) {
	t.Helper()
	x.result, err = b.Package(ctx, job, func(p judge.Progress) {
		var one struct {
			Step string
			Row  struct{ Path string }
		}
		must(t, json.Unmarshal(p.Finding, &one))
		x.steps = append(x.steps, one.Step+one.Row.Path)
	})
	if err == nil {
		must(t, json.Unmarshal(x.result.Report, &x.report))
	}
	return x, err
}

func (b *bench) finish(t *testing.T, job judge.Claim) toldOf {
	t.Helper()
	x, err := b.run(t.Context(), t, job)
	must(t, err)
	must(t, b.store.Finalize(t.Context(), job.Attempt, x.result))
	return x
}

func (b *bench) versions(t *testing.T) []judge.ProblemVersion {
	t.Helper()
	versions, err := b.store.ProblemVersions(t.Context(), "triple")
	must(t, err)
	return versions
}

func TestAPackageThatIsProvedGoesLiveAndAnotherDoesNot(t *testing.T) {
	b := newBench(t)
	x := b.finish(t, b.importing(t, zipped(t, triple), true))
	if x.result.Verdict != judge.AC || !x.report.Live || x.report.Proof == nil || len(x.report.Proof.Rows) != 2 || x.report.Error != "" {
		t.Fatalf("the report says %s", x.result.Report)
	}
	if got := strings.Join(slices.Compact(x.steps), " "); !strings.HasPrefix(got, "read measure verify ") || strings.Count(got, ".py") != 2 {
		t.Errorf("told of %q", x.steps)
	}
	first := b.versions(t)
	if len(first) != 1 || !first[0].Live || first[0].Proved == nil || !*first[0].Proved || first[0].Version != x.report.Version || first[0].By != "setter" {
		t.Fatalf("versions: %+v", first)
	}
	live, err := b.store.Problem(t.Context(), "triple")
	if err != nil || live.Version != x.report.Version || live.Title != "Triple" || len(live.Samples) != 1 {
		t.Errorf("live: %+v, %v", live, err)
	}

	// A wrong answer that is accepted: the version is kept with its report, and the
	// one before stays live.
	x = b.finish(t, b.importing(t, zipped(t, with("submissions/wrong_answer/lucky.py", "print(3 * int(input()))\n")), true))
	if x.result.Verdict != judge.WA || x.report.Live || x.report.Proof.OK() {
		t.Errorf("a proof that fails: %s", x.result.Report)
	}
	kept, err := b.store.ProblemVersion(t.Context(), "triple", x.report.Version)
	if err != nil || kept.Live || kept.Proved == nil || *kept.Proved || !strings.Contains(string(kept.Report), "wrong_answer/lucky.py") {
		t.Errorf("kept: %+v, %v", kept, err)
	}
	if live, err := b.store.Problem(t.Context(), "triple"); err != nil || live.Version != first[0].Version {
		t.Errorf("live: %+v, %v", live, err)
	}
	x = b.finish(t, b.order(t, judge.KindVerify, judge.PackagePayload{Version: first[0].Version}))
	if x.result.Verdict != judge.AC || x.report.Live || strings.Join(x.steps[:1], " ") != "verify" {
		t.Errorf("another proof: %s, told of %q", x.result.Report, x.steps)
	}

	// Without submissions nothing is proved.
	none := with("submissions/accepted/right.py", "", "submissions/wrong_answer/three.py", "")
	none["problem.yaml"] += "limits: {time_limit: 1}\n"
	if x = b.finish(t, b.importing(t, zipped(t, none), true)); x.result.Verdict != judge.WA || x.report.Live {
		t.Errorf("nothing proved: %s", x.result.Report)
	}
}

// bomb is an archive with an entry that says it has 20 GiB, or 1.5 GiB.
func bomb(t *testing.T, size uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateRaw(&zip.FileHeader{Name: "data/secret/1.in", Method: zip.Deflate, CompressedSize64: 4, UncompressedSize64: size})
	must(t, err)
	_, err = f.Write([]byte("bomb"))
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

func TestABadArchiveIsRefusedWithTheReasonAndLeavesNoVersion(t *testing.T) {
	b := newBench(t)
	many := map[string]string{}
	for i := range 200_001 {
		many[fmt.Sprintf("a/%d", i)] = ""
	}
	damaged := zipped(t, with("data/secret/3.in", strings.Repeat("0123456789abcdef", 500), "data/secret/3.ans", "3\n"))
	at := bytes.Index(damaged, []byte("data/secret/3.in")) + len("data/secret/3.in") + 20
	damaged[at] ^= 0xff
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"no archive":                  {[]byte("PK\x03\x04 and nothing else"), "no ZIP archive"},
		"a name that climbs out":      {zipped(t, with("../evil", "x")), `"../evil"`},
		"a name from the root":        {zipped(t, with("/etc/evil", "x")), `"/etc/evil"`},
		"a link out":                  {zipped(t, with("data/secret/9.in", "->../../../etc/passwd", "data/secret/9.ans", "x")), "data/secret/9.in: is a link that leads out of the package"},
		"a bomb":                      {bomb(t, 20<<30), "unpacks to more than 4 GiB"},
		"a bomb that is smaller":      {bomb(t, 3<<29), "more than 100 times its size"},
		"too many files":              {zipped(t, many), "200001 entries, at most 200000"},
		"a damaged file":              {damaged, "the archive is damaged: save problem triple: data/secret/3.in"},
		"no package":                  {zipped(t, map[string]string{"a.txt": "x"}), "package: is none that is known"},
		"two errors":                  {zipped(t, with("problem.yaml", triple["problem.yaml"]+"limits: {memory: lots}\nlanguages: []\n")), "languages: is empty"},
		"a limit nobody can infer":    {zipped(t, with("submissions/accepted/right.py", "", "submissions/wrong_answer/three.py", "")), "no submission says how long a good one takes"},
		"a language that nobody runs": {zipped(t, with("submissions/accepted/right.py", "", "submissions/accepted/a.cbl", "x")), "no language has this extension"},
	} {
		x := b.finish(t, b.importing(t, tt.archive, true))
		said := x.report.Error
		for _, f := range x.report.Refused {
			said += "\n" + f.String()
		}
		if x.result.Verdict != judge.JE || x.report.Version != "" || !strings.Contains(said, tt.want) {
			t.Errorf("%s: %s with %q, want JE with %q", name, x.result.Verdict, said, tt.want)
		}
	}
	if left := b.versions(t); len(left) > 0 {
		t.Errorf("half imported: %+v", left)
	}
	if _, err := b.store.Problem(t.Context(), "triple"); err == nil {
		t.Error("a problem is live that was never imported")
	}
}

// Whoever looks at a version before it goes live sees what of its statement got lost,
// also if another attempt kept the version.
func TestThePagesOfAnImportSayWhatTheStatementLost(t *testing.T) {
	b := newBench(t)
	job := b.importing(t, zipped(t, with("statement/problem.en.md", "Write $\\nosuchmacro$ three times.\n")), true)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	_, err := b.Package(ctx, job, func(p judge.Progress) {
		if strings.Contains(string(p.Finding), `"step":"verify"`) {
			kill()
		}
	})
	if err == nil {
		t.Fatal("the attempt that was killed has a result")
	}
	for attempt := range 2 {
		if attempt == 1 {
			b.finish(t, job)
		}
		kept := b.versions(t)
		if len(kept) != 1 {
			t.Fatalf("versions %+v", kept)
		}
		r, err := b.store.Rendering(t.Context(), "triple", kept[0].Version)
		must(t, err)
		if said := strings.Join(r.Warnings, "\n"); strings.Count(said, `statement/problem.en.md: uses macros that are unknown`) != 1 ||
			!strings.Contains(said, `\nosuchmacro`) {
			t.Errorf("after attempt %d its pages say %q", attempt, said)
		}
	}
}

func TestAnImportThatLosesItsWorkerIsTriedAgainAndMakesOneVersion(t *testing.T) {
	b := newBench(t)
	job := b.importing(t, zipped(t, triple), true)
	for _, at := range []string{"read", "verify"} { // before the version is kept, and after
		ctx, kill := context.WithCancel(t.Context())
		_, err := b.Package(ctx, job, func(p judge.Progress) {
			if strings.Contains(string(p.Finding), `"step":"`+at+`"`) {
				kill()
			}
		})
		kill()
		if err == nil {
			t.Fatalf("the attempt that was killed when it began to %s has a result", at)
		}
		if kept, want := b.versions(t), map[string]int{"read": 0, "verify": 1}[at]; len(kept) != want {
			t.Fatalf("killed when it began to %s: %+v, want %d versions", at, kept, want)
		}
	}
	if _, err := b.store.Problem(t.Context(), "triple"); err == nil {
		t.Error("a version is live whose proof never ended")
	}
	x := b.finish(t, job)
	left := b.versions(t)
	if x.result.Verdict != judge.AC || x.steps[0] != "verify" || len(left) != 1 || !left[0].Live || left[0].Version != x.report.Version {
		t.Errorf("the third try: %s, told of %q, versions %+v", x.result.Report, x.steps, left)
	}
	// Killed between the end of its work and the record of it: what people did in
	// between holds.
	must(t, b.store.SaveProblem(t.Context(), judge.Problem{Slug: "triple", Version: string(blob.Of([]byte("other")))}, "stan"))
	if x, err := b.run(t.Context(), t, job); err != nil || x.result.Verdict != judge.AC {
		t.Errorf("the fourth try: %v, %v", x.result.Verdict, err)
	}
	if live, err := b.store.Problem(t.Context(), "triple"); err != nil || live.Version != string(blob.Of([]byte("other"))) {
		t.Errorf("a second try took back what somebody made live: %+v, %v", live, err)
	}
}

func TestAPackageTakesThePlaceOfWhatAContestSaidOfItsProblem(t *testing.T) {
	b := newBench(t)
	archive := zipped(t, with("problem.yaml", triple["problem.yaml"]+"limits: {time_limit: 2}\n"))
	made := b.finish(t, b.importing(t, archive, true)).report.Version
	says, err := b.store.Problem(t.Context(), "triple")
	must(t, err)
	says.Version, says.Statement, says.Samples = "sha256:said", "<p>It came with a contest.</p>", nil
	other := *says
	other.Version, other.CPUMillis = "sha256:other", says.CPUMillis+1
	must(t, b.store.CreateSpace(t.Context(), judge.Space{Slug: "cup", Title: "Cup"}, "setter"))
	for code, p := range map[string]judge.Problem{"same": *says, "other": other} {
		must(t, b.store.Rounds.Import(t.Context(), rounds.Past{
			Round:    judge.Round{Space: "cup", Code: code, Title: code, Kind: judge.RoundContest, Format: "icpc"},
			Problems: []rounds.PastProblem{{RoundProblem: judge.RoundProblem{Problem: "triple", Label: "A", Version: p.Version}, Make: &p}},
			Log:      func(map[string]int64, []int64) ([]rounds.PastLine, error) { return nil, nil },
		}, "setter"))
	}
	for _, instead := range []string{"sha256:said", "sha256:other"} {
		d, n, err := judgingtest.Get(t).Blobs.Put(t.Context(), bytes.NewReader(archive))
		must(t, err)
		if x := b.finish(t, b.order(t, judge.KindImport, judge.PackagePayload{Archive: string(d), Bytes: n, Instead: instead})); x.report.Version != made {
			t.Fatalf("made %s, and before %s", x.report.Version, made)
		}
	}
	const pinned = "SELECT p.version FROM round_problems p JOIN rounds r ON r.id = p.round_id WHERE r.code = $1"
	if is := sqltest.One[string](t, b.store, pinned, "same"); is != made {
		t.Errorf("a round of which everything is known still has %s", is)
	}
	if is := sqltest.One[string](t, b.store, pinned, "other"); is != "sha256:other" {
		t.Errorf("a contest that was held with another time limit has %s", is)
	}
}
