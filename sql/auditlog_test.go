package sql_test

import (
	"strings"
	"testing"

	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestTheAuditLogIsFilteredAndPaged(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	for _, act := range []string{"root user_disable user:ann", "root user_enable user:ann", "prof cancel job:1", "root user_disable user:ann2", "prof user_disable user:"} {
		f := strings.Fields(act)
		sqltest.Must(t, s.AuditNote(t.Context(), f[0], f[1], f[2], map[string]string{"act": act}))
	}
	for want, f := range map[string]sql.AuditFilter{
		"5 4 3 2 1": {}, "5 3": {Actor: "prof"}, "5 4 1": {Action: "user_disable"}, "2 1": {Subject: "user:ann"}, "5 4 2 1": {Subject: "user:"},
		"1": {Actor: "root", Action: "user_disable", Before: 4}, "4 3": {Before: 5, Limit: 2}, "": {Subject: "user"},
	} {
		found, err := s.AuditLog(t.Context(), f)
		sqltest.Must(t, err)
		var ids []string
		for _, e := range found {
			ids = append(ids, string(rune('0'+e.ID)))
			if e.At.IsZero() || !strings.Contains(string(e.Detail), e.Actor+" "+e.Action+" "+e.Subject) {
				t.Errorf("entry %+v", e)
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%+v chooses %q, want %q", f, got, want)
		}
	}
}

func TestWhatWorkersRunIsListed(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	first, second := sqltest.Submit(t, s, sqltest.Sub("ann")), sqltest.Submit(t, s, sqltest.Sub("bob"))
	sqltest.Submit(t, s, sqltest.Sub("cat"))
	sqltest.Pick(t, s, 10)
	sqltest.Claim(t, s, first, "w1", 1)
	sqltest.Claim(t, s, second, "w2", 2)
	runs, err := s.WorkerRuns(t.Context())
	if err != nil || len(runs) != 2 || runs[0].JobID != first || runs[0].Worker != "w1" || runs[1].Worker != "w2" || runs[1].AttemptID != 1 || runs[1].Started.IsZero() {
		t.Errorf("runs = %+v, %v", runs, err)
	}
}
