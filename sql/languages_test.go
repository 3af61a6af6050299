package sql_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestALanguageStaysOfferedUntilStaffTakeItOff(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	java := judge.Language{ID: "java", Name: "Java", Version: "17", Available: true}
	sqltest.Must(t, s.OfferLanguages(t.Context(), []judge.Language{java, {ID: "kotlin", Name: "Kotlin", Unavailable: "no compiler"}}))
	sqltest.Must(t, s.WorkerGone(t.Context(), "w1"))
	if ls, err := s.Languages(t.Context()); err != nil || len(ls) != 1 || ls[0].ID != "java" || ls[0].Withdrawn {
		t.Fatalf("languages = %+v, %v; want what a worker was able to judge", ls, err)
	}
	sqltest.Must(t, s.WithdrawLanguage(t.Context(), "java", true, "prof"))
	sqltest.Must(t, s.WithdrawLanguage(t.Context(), "java", true, "prof")) // again: nothing to do
	java.Name = "Java 21"
	sqltest.Must(t, s.OfferLanguages(t.Context(), []judge.Language{java}))
	if ls, err := s.Languages(t.Context()); err != nil || len(ls) != 1 || ls[0].Name != "Java 21" || !ls[0].Withdrawn {
		t.Errorf("languages = %+v, %v; want Java described anew, and still off", ls, err)
	}
	sqltest.Must(t, s.WithdrawLanguage(t.Context(), "java", false, "prof"))
	if err := s.WithdrawLanguage(t.Context(), "cobol", true, "prof"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("an unknown language: %v", err)
	}
	log, err := s.AuditLog(t.Context(), sql.AuditFilter{Subject: "language:"})
	if err != nil || len(log) != 2 {
		t.Errorf("the audit log has %+v, %v; want the two changes", log, err)
	}
}

// TestAnOldInstallationOffersWhatItsWorkersHad runs the step that makes the list over
// workers of before.
func TestAnOldInstallationOffersWhatItsWorkersHad(t *testing.T) {
	t.Parallel()
	s := sqltest.DB(t)
	sqltest.Must(t, s.WorkerBeat(t.Context(), judge.WorkerInfo{Name: "w1", Started: time.Now(), Languages: []judge.Language{
		{ID: "cpp", Name: "C++", Available: true}, {ID: "rust", Name: "Rust", Unavailable: "rustc is missing"},
	}}))
	sqltest.Must(t, s.WorkerBeat(t.Context(), judge.WorkerInfo{Name: "w2", Started: time.Now()}))
	names, err := filepath.Glob("migrations/*_offered_languages.sql")
	if err != nil || len(names) != 1 {
		t.Fatalf("the step is %v, %v", names, err)
	}
	step, err := os.ReadFile(names[0])
	sqltest.Must(t, err)
	s.Exec(t, "DROP TABLE languages")
	for statement := range strings.SplitSeq(string(step), ";\n") {
		if strings.TrimSpace(statement) != "" {
			s.Exec(t, statement)
		}
	}
	if ls, err := s.Languages(t.Context()); err != nil || len(ls) != 1 || ls[0].Name != "C++" || ls[0].Withdrawn {
		t.Errorf("languages = %+v, %v; want C++", ls, err)
	}
}
