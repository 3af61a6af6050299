package liveness

import (
	"os"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }

func TestAWorkerLivesFromItsFirstBeatUntilItGoes(t *testing.T) {
	t.Parallel()
	var d Directory = NewPostgres(sqltest.DB(t), 0)
	alive := func() (names []string) {
		t.Helper()
		ws, err := d.Workers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range ws {
			names = append(names, w.Name)
		}
		return slices.Sorted(slices.Values(names))
	}
	beat := func(name string, slots int) {
		t.Helper()
		err := d.Beat(t.Context(), judge.WorkerInfo{
			Name: name, Pool: "default", Slots: slots, Started: time.Now(),
			Languages: []judge.Language{{ID: "cpp", Available: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := alive(); len(got) != 0 {
		t.Errorf("%v live before anybody came", got)
	}
	beat("a", 1)
	beat("b", 1)
	beat("a", 4)
	if got, want := alive(), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("%v live, want %v", got, want)
	}
	ws, err := d.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range ws {
		if w.Name == "a" && (w.Slots != 4 || len(w.Languages) != 1 || !w.Languages[0].Available || w.Seen.IsZero()) {
			t.Errorf("the newest beat says %+v", w)
		}
	}
	for range 2 { // going twice is as good as once
		if err := d.Gone(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := alive(), []string{"b"}; !slices.Equal(got, want) {
		t.Errorf("%v live, want %v", got, want)
	}
}

func TestASilentWorkerIsNotCountedOn(t *testing.T) {
	t.Parallel()
	d := NewPostgres(sqltest.DB(t), time.Millisecond)
	if err := d.Beat(t.Context(), judge.WorkerInfo{Name: "a", Pool: "default", Slots: 1, Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	<-time.After(20 * time.Millisecond)
	ws, err := d.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(ws) != 0 {
		t.Errorf("counted on %+v", ws)
	}
}
