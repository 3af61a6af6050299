package sql_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func plugin(digest, version string, conforms bool) judge.Plugin {
	return judge.Plugin{
		Digest: digest, Kind: "checker", Name: "org.example.pair", Version: version, Protocol: "testlib/1", Bytes: 1234,
		Manifest: json.RawMessage(`{"judge":1}`), Conforms: conforms, JobID: 1, By: "setter",
	}
}

func TestANameMeansTheVersionThatWasActivated(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	for _, p := range []judge.Plugin{plugin("sha256:01", "1", true), plugin("sha256:02", "2", true), plugin("sha256:03", "3", false)} {
		sqltest.Must(t, s.SavePlugin(t.Context(), p))
	}
	active := func() (digests []string) {
		t.Helper()
		ps, err := s.Plugins(t.Context(), "checker", "org.example.pair")
		if err != nil || len(ps) != 3 {
			t.Fatalf("versions = %+v, %v", ps, err)
		}
		for _, p := range ps {
			if p.Active {
				digests = append(digests, p.Digest)
			}
		}
		return digests
	}
	if got := active(); len(got) != 0 {
		t.Errorf("active before anything was activated: %q", got)
	}
	if _, err := s.RollBackPlugin(t.Context(), "checker", "org.example.pair", "staff"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("rolled back from nothing: %v", err)
	}
	for _, digest := range []string{"sha256:01", "sha256:02", "sha256:02"} {
		sqltest.Must(t, s.ActivatePlugin(t.Context(), digest, "setter"))
		if got := active(); len(got) != 1 || got[0] != digest {
			t.Errorf("active = %q, want %s", got, digest)
		}
	}
	err := s.ActivatePlugin(t.Context(), "sha256:03", "setter")
	if f, ok := errors.AsType[*judge.FieldError](err); !ok || f.Reason != "not_conforming" {
		t.Errorf("a version that does not conform: %v", err)
	}
	if err := s.ActivatePlugin(t.Context(), "sha256:99", "setter"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("an unknown version: %v", err)
	}
	if got, err := s.RollBackPlugin(t.Context(), "checker", "org.example.pair", "staff"); err != nil || got != "sha256:01" || active()[0] != "sha256:01" {
		t.Errorf("rolled back to %s, %v, active %q", got, err, active())
	}
	changes, err := s.PluginChanges(t.Context(), "checker", "org.example.pair", 10)
	if err != nil || len(changes) != 3 || changes[0].Digest != "sha256:01" || changes[0].Previous != "sha256:02" || changes[0].By != "staff" || changes[2].Previous != "" {
		t.Errorf("changes = %+v, %v", changes, err)
	}
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM audit_log WHERE action = 'activate' AND subject = 'plugin:org.example.pair'"); n != 3 {
		t.Errorf("%d activations in the audit log, want 3", n)
	}
}

func TestTheNewestReportSaysWhetherAPluginConforms(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	sqltest.Must(t, s.SavePlugin(t.Context(), plugin("sha256:01", "1", true)))
	newer := plugin("sha256:01", "1", false)
	newer.JobID, newer.By = 7, "other"
	sqltest.Must(t, s.SavePlugin(t.Context(), newer))
	older := plugin("sha256:01", "1", true)
	older.JobID = 3
	sqltest.Must(t, s.SavePlugin(t.Context(), older))
	p, err := s.Plugin(t.Context(), "sha256:01")
	if err != nil || p.Conforms || p.JobID != 7 || p.By != "setter" || p.Created.IsZero() || p.Bytes != 1234 {
		t.Errorf("plugin = %+v, %v", p, err)
	}
	if _, err := s.Plugin(t.Context(), "sha256:02"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("unknown plugin: %v", err)
	}
}

func TestAJobOfAnotherKindKeepsItsReport(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	payload, err := json.Marshal(judge.PluginPayload{SchemaVersion: 1, ContentType: judge.PluginType, Op: judge.PluginUpload, By: "setter"})
	sqltest.Must(t, err)
	id := sqltest.Submit(t, s, sql.NewJob{Author: "setter", Kind: judge.KindPluginTest, Payload: payload})
	sqltest.Submit(t, s, sqltest.Sub("alice"))
	sqltest.Pick(t, s, 2)
	a := sqltest.Claim(t, s, id, "w1", 1)
	var got judge.PluginPayload
	if err := json.Unmarshal(a.Payload, &got); err != nil || got.By != "setter" || a.Kind != judge.KindPluginTest {
		t.Errorf("claimed %+v with payload %+v, %v", a, got, err)
	}
	sqltest.Must(t, s.Progress(t.Context(), a.Attempt, []judge.Progress{{Kind: judge.EventFinding, Finding: json.RawMessage(`{"rule":"own_tests"}`)}}))
	sqltest.Must(t, s.Finalize(t.Context(), a.Attempt, judge.Result{Verdict: judge.WA, Report: json.RawMessage(`{"findings":1}`)}))
	v, err := s.Job(t.Context(), id)
	if err != nil || v.Kind != judge.KindPluginTest || v.Author != "setter" || v.Shown() != "FINISHED" || string(v.Result.Report) != `{"findings": 1}` && string(v.Result.Report) != `{"findings":1}` {
		t.Errorf("job = %+v with %+v, %v", v, v.Result, err)
	}
	events, err := s.Events(t.Context(), id, 0, 100)
	found := false
	for _, e := range events {
		found = found || e.Kind == judge.EventFinding && len(e.Data) > 0
	}
	if err != nil || !found {
		t.Errorf("no finding among %+v, %v", events, err)
	}
	list, err := s.Jobs(t.Context(), []judge.Kind{judge.KindPluginTest, judge.KindPluginBuild}, 0, 10)
	if err != nil || len(list) != 1 || list[0].JobID != id || list[0].Verdict() != judge.WA || time.Since(list[0].Created) > time.Hour {
		t.Errorf("jobs = %+v, %v", list, err)
	}
	if _, err := s.Job(t.Context(), id+100); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("unknown job: %v", err)
	}
}

func TestAJobAboutAPluginSaysWhatWasAskedWithoutItsFiles(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	asked := judge.PluginPayload{
		SchemaVersion: 1, ContentType: judge.PluginType, Op: judge.PluginUpload, By: "setter", Kind: "checker", Name: "files", Version: "1.0",
		Protocol: "testlib/1", Problem: "pairs",
	}
	for name, size := range map[string]int{"none": 0, "small": 10, "large": 5 << 20} {
		upload := asked
		if size > 0 {
			upload.Files = []judge.PluginFile{{Name: "a.c", Data: make([]byte, size)}}
		}
		payload, err := json.Marshal(upload)
		sqltest.Must(t, err)
		id := sqltest.Submit(t, s, sql.NewJob{Author: "setter", Kind: judge.KindPluginBuild, Payload: payload})
		if v, err := s.Job(t.Context(), id); err != nil || !reflect.DeepEqual(v.About, asked) {
			t.Errorf("%s: the job is about %+v, %v", name, v.About, err)
		}
	}
	id := sqltest.Submit(t, s, sql.NewJob{Author: "setter", Kind: judge.KindPluginTest, Payload: json.RawMessage(`[1]`)})
	if v, err := s.Job(t.Context(), id); err != nil || !reflect.DeepEqual(v.About, judge.PluginPayload{}) {
		t.Errorf("a payload that is no object: %+v, %v", v, err)
	}
	list, err := s.Jobs(t.Context(), []judge.Kind{judge.KindPluginBuild}, 0, 10)
	if err != nil || len(list) != 3 || !reflect.DeepEqual(list[2].About, asked) {
		t.Errorf("jobs = %+v, %v", list, err)
	}
}
