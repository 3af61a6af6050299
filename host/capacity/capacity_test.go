package capacity

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }

// check looks at figures by their names: all are there and are more than nothing.
func check(t *testing.T, figures []Figure, err error, names ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(figures) != len(names) {
		t.Fatalf("%d figures: %+v, want %v", len(figures), figures, names)
	}
	for i, f := range figures {
		if f.Name != names[i] || f.Value <= 0 || f.Unit == "" {
			t.Errorf("figure %+v, want %s", f, names[i])
		}
	}
}

func TestAPassDoesTheSameWorkEachTime(t *testing.T) {
	t.Parallel()
	first := pass()
	if first.primes != 6542 { // below 2^16
		t.Errorf("%d primes", first.primes)
	}
	if again := pass(); again != first || first.inversions == 0 || first.trace == 0 {
		t.Errorf("%+v, then %+v", first, again)
	}
	figures, err := Processor(10 * time.Millisecond)
	check(t, figures, err, "calibration", "calibration, all cores")
}

func TestTheDiskIsMeasuredWhereItIsWanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	figures, err := Disk(t.Context(), dir, 20*time.Millisecond)
	check(t, figures, err, "disk writes, 8 KiB with fsync")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left over, %v", left, err)
	}
	if _, err := Disk(t.Context(), dir+"/none", time.Millisecond); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestJobsPassThroughARealQueue(t *testing.T) {
	t.Parallel()
	s := sqltest.DB(t)
	figures, err := Commits(t.Context(), s.Queue, 20*time.Millisecond)
	check(t, figures, err, "PostgreSQL commits, 1 at once", "PostgreSQL commits, 8 at once")
	figures, err = Jobs(t.Context(), s.DB, 300)
	check(t, figures, err, "jobs through the queue")
	stats, err := s.QueueStats(t.Context())
	if err != nil || stats.Judged != 300 || stats.Pending+stats.Delivered+stats.Running != 0 {
		t.Errorf("the queue: %+v, %v", stats, err)
	}
	if a, err := s.Audit(t.Context()); err != nil || !a.Zero() {
		t.Errorf("the audit: %+v, %v", a.Rows(), err)
	}
}

func TestAReportSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	var r Report
	r.Add("well", func() ([]Figure, error) { return []Figure{{"speed", 12345.678, "1/s", "fast"}}, nil })
	r.Add("ill", func() ([]Figure, error) { return []Figure{{"half", 1, "ms", ""}}, errors.New("broken") })
	var text, raw bytes.Buffer
	if err := errors.Join(r.WriteText(&text), r.WriteJSON(&raw)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"speed         1.235e+04 1/s  fast\n", "half ", "not measured                 ill: broken\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	var back Report
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil || len(back.Figures) != 2 || back.Figures[0] != r.Figures[0] || len(back.Missing) != 1 {
		t.Errorf("%+v, %v", back, err)
	}
}
