package sql_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deepoj/sql/sqltest"
)

func TestEveryStatementIsUsedAndCanBePlanned(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	var code strings.Builder
	files, err := filepath.Glob("*.go")
	sqltest.Must(t, err)
	for _, folder := range []string{"jobs", "rounds"} {
		below, err := filepath.Glob(folder + "/*.go")
		sqltest.Must(t, err)
		files = append(files, below...)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		data, err := os.ReadFile(f)
		sqltest.Must(t, err)
		code.Write(data)
	}
	statements := s.Statements
	var used []string
	for _, m := range regexp.MustCompile(`"((?:Submission|Outbox|Job|Jobs|DeadLetter|Audit|Queue|Place|Rejudge|Retire|Shard|Standing|Webhook|Contest|Feed)[A-Za-z]*)"`).FindAllStringSubmatch(code.String(), -1) {
		used = append(used, m[1])
	}
	for name, st := range statements {
		if !slices.Contains(used, name) {
			t.Errorf("nobody uses statement %s", name)
		}
		if err := s.TryExec(t.Context(), "PREPARE p_"+name+" AS "+st.Text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(statements) < 20 {
		t.Errorf("only %d statements were found", len(statements))
	}
}

// A plan that was made for empty tables is kept, and must do for long ones. That
// matters most for what every job goes through.
func TestNoStatementReadsAWholeTableIfPlannedForAnEmptyOne(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	everyJob := []string{"SubmissionSubmit", "SubmissionSubmitSpace", "OutboxPick", "OutboxPublished", "JobClaim", "JobTake", "JobTakePlain", "JobHeartbeat", "JobRenewExpired", "JobFinalize", "JobProgress", "JobExplain"}
	growing := []string{"outbox_events", "jobs", "job_payloads", "results", "single_events", "event_batches"}
	s.Exec(t, "VACUUM ANALYZE "+strings.Join(growing, ", "))
	counting := []string{"Audit", "QueueStats", "QueueReady"}           // they read all on purpose
	short := []string{"outbox_events_scheduled", "outbox_events_timer"} // they hold only what is scheduled, or under way
	looked := 0
	for name, st := range s.Statements {
		text := st.Text
		tables := growing[:1]
		if slices.Contains(everyJob, name) {
			tables = growing
		}
		if !strings.Contains(text, "outbox_events") && !slices.Contains(everyJob, name) || slices.Contains(counting, name) {
			continue
		}
		for _, read := range planWhenEmpty(t, s, text) {
			looked++
			if !slices.Contains(tables, read.Table) || slices.Contains(short, read.Index) {
				continue
			}
			if read.Condition == "" {
				t.Errorf("%s reads all of %s (%s, %s): name its rows by an array", name, read.Table, read.Node, read.Index)
			}
		}
	}
	if looked < 20 {
		t.Errorf("only %d scans were looked at", looked)
	}
}

// scan is how a plan reads a table.
type scan struct{ Node, Table, Index, Condition string }

// planWhenEmpty returns how PostgreSQL reads tables for a statement of the queue
// without looking at its parameters.
func planWhenEmpty(t *testing.T, s *sqltest.Store, text string) []scan {
	t.Helper()
	params := 0
	for strings.Contains(text, "$"+strconv.Itoa(params+1)) {
		params++
	}
	nulls := strings.TrimSuffix(strings.Repeat("NULL,", params), ",")
	if nulls != "" {
		nulls = "(" + nulls + ")"
	}
	c, err := s.DB.DB.Queue.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if _, err := c.Exec(t.Context(), "PREPARE planned AS "+text); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = c.Exec(t.Context(), "DEALLOCATE planned") }()
	var plan []map[string]any
	if err := c.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) EXECUTE planned"+nulls).Scan(&plan); err != nil {
		t.Fatal(err)
	}
	var scans []scan
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			node, _ := v["Node Type"].(string)
			table, _ := v["Relation Name"].(string)
			condition, _ := v["Index Cond"].(string)
			if table != "" && strings.Contains(node, "Scan") {
				index, _ := v["Index Name"].(string)
				scans = append(scans, scan{node, table, index, condition})
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	for _, p := range plan {
		walk(p)
	}
	return scans
}
