package job

import (
	"testing"

	"deepoj/host/judge"
	"deepoj/web/site"
)

func TestEveryKindOfJobSaysOfItselfWhyItEndedWithoutAResult(t *testing.T) {
	cancelled := "ann\nwrong file"
	ann, staff := site.Viewer{Name: "ann"}, site.Viewer{Name: "sue", Role: judge.RoleStaff}
	sub := func(status judge.Status, kept string, v site.Viewer) string {
		return endedWithout(&judge.Job{Status: status, LastError: kept, Author: "ann", Kind: judge.KindSubmission}, v)
	}
	run := func(status judge.Status, kept string, v site.Viewer) string {
		return endedWithout(&judge.Job{Status: status, LastError: kept, Author: "ann", Kind: judge.KindRun}, v)
	}
	job := func(status judge.Status, kept string, v site.Viewer) string {
		return endedWithout(&judge.Job{Status: status, LastError: kept, Author: "ann", Kind: judge.KindImport}, v)
	}
	for want, got := range map[string]string{
		"The submission was cancelled by you: wrong file":                                                                                             sub(judge.Cancelled, cancelled, ann),
		"The run was cancelled by you: wrong file":                                                                                                    run(judge.Cancelled, cancelled, ann),
		"The job was cancelled by you: wrong file":                                                                                                    job(judge.Cancelled, cancelled, ann),
		"The judging system failed on every try. This is not the program's fault; staff can have it judged again.":                                    sub(judge.Dead, "x", ann),
		"The judging system failed on every try. This is not the program's fault; send it again, or tell whoever runs this server.":                   run(judge.Dead, "x", ann),
		"The judging system failed on every try. This is not the package's fault; send it again, or tell whoever runs this server. Last failure: box": job(judge.Dead, "box", staff),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
