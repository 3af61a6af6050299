package sql_test

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"testing"

	"deepoj/host/embedded"
	"deepoj/host/embedded/servicetest"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// TestAFullDiskLosesNothingThatWasAccepted hands in until the disk of the database is
// full, which may well end the server, and goes on when there is room again.
func TestAFullDiskLosesNothingThatWasAccepted(t *testing.T) {
	t.Parallel()
	disk := servicetest.SmallDisk(t, 160)
	server, err := embedded.StartPostgres(t.Context(), embedded.PostgresConfig{
		DataDir:  filepath.Join(disk, "pg"),
		Settings: map[string]string{"fsync": "off", "max_wal_size": "32MB", "wal_init_zero": "off"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }() // as a service manager would
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	s, err := sqltest.OpenWith(t.Context(), sql.Config{DSN: server.DSN()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Title: "A + B", Version: "sha256:00", CPUMillis: 1000}, "test"); err != nil {
		t.Fatal(err)
	}
	big := func(n *sql.NewJob) { // that cannot be made smaller
		noise := make([]byte, 256<<10)
		_, _ = rand.Read(noise) // never fails
		for i := range noise {
			noise[i] = 0x20 + noise[i]%0x5f
		}
		n.Sources = []judge.Source{{Name: "a.cpp", Text: string(noise)}}
	}
	var accepted []int64
	hand := func() error {
		r, err := s.Submit(t.Context(), sqltest.Sub("ann", big))
		if err == nil {
			accepted = append(accepted, r.JobID)
		}
		return err
	}
	if err := hand(); err != nil {
		t.Fatal(err)
	}
	empty := servicetest.Fill(t, disk)
	refused := 0
	for tries := 0; refused < 3; tries++ {
		if tries > 2000 {
			t.Fatal("a full disk took everything")
		}
		if err := hand(); err != nil {
			if refused++; !sql.Away(err) {
				t.Errorf("%v is not said to be an outage", err)
			}
		}
	}
	empty()
	before := len(accepted)
	servicetest.Await(t, "a submit with room again", func() bool { return hand() == nil })
	for _, id := range accepted {
		if j, err := s.Submission(t.Context(), id); err != nil || j.Status != judge.Pending {
			t.Errorf("submission %d of %d accepted before: %+v, %v", id, before, j, err)
		}
	}
	a, err := s.Audit(t.Context())
	if err != nil || !a.Zero() {
		t.Errorf("the audit found %+v, %v", a.Rows(), err)
	}
}
