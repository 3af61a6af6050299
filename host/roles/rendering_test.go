package roles

import (
	"log/slog"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/sql/sqltest"
)

func TestStatementsAreRenderedOnceWhenAllWorkersAreOfAVersion(t *testing.T) {
	const version = "this"
	store := sqltest.DB(t)
	b := &base{Config: Config{Version: version}, db: store.DB, log: slog.New(slog.DiscardHandler)}
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ordered := func() []judge.RenderPayload {
		t.Helper()
		jobs, err := store.Jobs(ctx, []judge.Kind{judge.KindRender}, 0, 10)
		must(err)
		var all []judge.RenderPayload
		for _, j := range jobs {
			all = append(all, *j.Render)
		}
		return all
	}
	must(store.KeepVersion(ctx, judge.Problem{Slug: "old", Title: "Old", Version: "sha256:01"}, "sue", 0))
	beat := func(name, version string) {
		t.Helper()
		must(store.WorkerBeat(ctx, judge.WorkerInfo{Name: name, Pool: "default", Version: version, Started: time.Now(), Seen: time.Now()}))
	}
	beat("new", version)
	beat("old", "before "+version)
	if done, err := orderRendering(ctx, b, func() {}); err != nil || done || len(ordered()) > 0 {
		t.Errorf("beside a worker of before: done is %v, %v, ordered %v", done, err, ordered())
	}
	must(store.WorkerGone(ctx, "old"))
	for range 2 {
		if done, err := orderRendering(ctx, b, func() {}); err != nil || !done {
			t.Errorf("done is %v, %v", done, err)
		}
	}
	if all := ordered(); len(all) != 1 || !all[0].Due || len(all[0].Problems) > 0 {
		t.Errorf("ordered %+v, want one job for all that is due", all)
	}
	versions, err := store.Renderings(ctx)
	must(err)
	for _, v := range versions {
		_, err := store.SavePages(ctx, v.Problem, v.Version, judge.Rendering{Renderer: problem.Renderer}, 0)
		must(err)
	}
	if done, err := orderRendering(ctx, b, func() {}); err != nil || !done || len(ordered()) != 1 {
		t.Errorf("where nothing is due: done is %v, %v, ordered %v", done, err, ordered())
	}
}
