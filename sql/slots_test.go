package sql_test

import (
	"testing"

	"deepoj/sql/sqltest"
)

func TestTheSlotsOfChangeFeedsAreTold(t *testing.T) {
	t.Parallel()
	c := sqltest.NewCluster(t, map[string]string{"max_slot_wal_keep_size": "1GB"})
	s := c.Store(t)
	look := func() (names []string) {
		t.Helper()
		slots, err := s.Slots(t.Context())
		sqltest.Must(t, err)
		for _, slot := range slots {
			names = append(names, slot.Name)
			if slot.Active || slot.WALStatus != "reserved" || slot.Confirmed == "" || slot.Room == nil || *slot.Room <= 0 || slot.Behind < 0 || slot.Retained < slot.Behind {
				t.Errorf("a slot that nobody uses is %+v", slot)
			}
		}
		return names
	}
	if got := look(); got != nil {
		t.Errorf("at first there are %v", got)
	}
	c.Exec(t, "SELECT pg_create_logical_replication_slot('zebra', 'pgoutput')", "SELECT pg_create_logical_replication_slot('ape', 'pgoutput')",
		"SELECT pg_create_physical_replication_slot('standby')", "SELECT pg_create_logical_replication_slot('other', 'test_decoding')")
	if got := look(); len(got) != 2 || got[0] != "ape" || got[1] != "zebra" {
		t.Errorf("there are %v", got)
	}
	before, err := s.Slots(t.Context())
	sqltest.Must(t, err)
	c.Exec(t, "CREATE TABLE much AS SELECT repeat('x', 100) FROM generate_series(1, 10000)")
	after, err := s.Slots(t.Context())
	sqltest.Must(t, err)
	if after[0].Retained < before[0].Retained+1_000_000 || after[0].Behind < before[0].Behind+1_000_000 || *after[0].Room >= *before[0].Room {
		t.Errorf("a megabyte later %+v is %+v", before[0], after[0])
	}
	c.Exec(t, "SELECT pg_drop_replication_slot('ape')", "SELECT pg_drop_replication_slot('zebra')",
		"SELECT pg_drop_replication_slot('standby')", "SELECT pg_drop_replication_slot('other')")
	if got := look(); got != nil {
		t.Errorf("at last there are %v", got)
	}
}
