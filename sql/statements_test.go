package sql_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/sql"
)

func TestEveryStatementIsUsedAndCanBePlanned(t *testing.T) {
	t.Parallel()
	s := open(t)
	var code strings.Builder
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		data, err := os.ReadFile(f)
		must(t, err)
		code.Write(data)
	}
	statements := s.Statements()
	var used []string
	for _, m := range regexp.MustCompile(`"((?:Submission|Outbox|Job|Jobs|DeadLetter|Audit|Queue|Place|Rejudge|Retire|Shard|Standing|Webhook)[A-Za-z]*)"`).FindAllStringSubmatch(code.String(), -1) {
		used = append(used, m[1])
	}
	for name, text := range statements {
		if !slices.Contains(used, name) {
			t.Errorf("nobody uses statement %s", name)
		}
		if err := s.TryExec(t.Context(), "PREPARE p_"+name+" AS "+text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(statements) < 20 {
		t.Errorf("only %d statements were found", len(statements))
	}
}

func TestStatementsShareParts(t *testing.T) {
	t.Parallel()
	whole, err := sql.Assemble("WITH @Some, x AS (SELECT @a) TABLE x", map[string]string{"Some": "\ny AS (SELECT @b)\n"})
	if want := "WITH y AS (SELECT @b), x AS (SELECT @a) TABLE x"; err != nil || whole != want {
		t.Errorf("assembled %q, %v", whole, err)
	}
	if _, err := sql.Assemble("WITH @Other", nil); err == nil {
		t.Error("a part that does not exist was found")
	}
}

func TestParametersAreBoundByName(t *testing.T) {
	t.Parallel()
	text, params := sql.Number("X", "SELECT @b::text, @a::int -- not @c\nWHERE @b <> '';")
	if want := "/* X */ SELECT $1::text, $2::int \nWHERE $1 <> ''"; text != want || !slices.Equal(params, []string{"b", "a"}) {
		t.Errorf("numbered %q, %v", text, params)
	}
	if got, err := sql.Bind(params, map[string]any{"a": 1, "b": "x"}); err != nil || got[0] != "x" || got[1] != 1 {
		t.Errorf("bound %v, %v", got, err)
	}
	for _, wrong := range []map[string]any{{"a": 1}, {"a": 1, "c": 2}, {"a": 1, "b": 2, "c": 3}} {
		if _, err := sql.Bind(params, wrong); err == nil {
			t.Errorf("%v was bound", wrong)
		}
	}
}

// A plan that was made for empty tables is kept, and must do for long ones. That
// matters most for what every job goes through.
func TestNoStatementReadsAWholeTableIfPlannedForAnEmptyOne(t *testing.T) {
	t.Parallel()
	s := open(t)
	everyJob := []string{"SubmissionSubmit", "SubmissionSubmitSpace", "OutboxPick", "OutboxPublished", "JobClaim", "JobTake", "JobTakePlain", "JobHeartbeat", "JobRenewExpired", "JobFinalize", "JobProgress", "JobExplain"}
	growing := []string{"outbox_events", "jobs", "job_payloads", "results", "single_events", "event_batches"}
	s.Exec(t, "VACUUM ANALYZE "+strings.Join(growing, ", "))
	counting := []string{"Audit", "QueueStats", "QueueReady"}           // they read all on purpose
	short := []string{"outbox_events_scheduled", "outbox_events_timer"} // they hold only what is scheduled, or under way
	looked := 0
	for name, text := range s.Statements() {
		tables := growing[:1]
		if slices.Contains(everyJob, name) {
			tables = growing
		}
		if !strings.Contains(text, "outbox_events") && !slices.Contains(everyJob, name) || slices.Contains(counting, name) {
			continue
		}
		for _, scan := range s.PlanWhenEmpty(t, text) {
			looked++
			if !slices.Contains(tables, scan.Table) || slices.Contains(short, scan.Index) {
				continue
			}
			if scan.Condition == "" {
				t.Errorf("%s reads all of %s (%s, %s): name its rows by an array", name, scan.Table, scan.Node, scan.Index)
			}
		}
	}
	if looked < 20 {
		t.Errorf("only %d scans were looked at", looked)
	}
}
