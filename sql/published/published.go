// Package published says what of the database the change feed may read, and the SQL that lets it: a role that can read
// and replicate these columns alone, and a publication of them.
//
// Tables of events are published as they are written, and nothing of them is ever changed in place. What was handed in,
// what people know to log in by, and what a worker holds a job by stand in other tables.
package published

import (
	"fmt"
	"slices"
	"strings"
)

// Role is the role of the feed in the embedded PostgreSQL, and the one that the SQL for others names by default.
// Publication is the publication's name in both.
const (
	Role        = "deepoj_feed"
	Publication = "deepoj_feed"
)

// Table is a table of which inserted rows are published.
type Table struct {
	Name    string
	Columns []Column // in the order that they have in the table
}

// Column is a column that the feed may read.
type Column struct {
	Name string
	Type uint32 // its object id
	Read bool   // it is read with a snapshot, and not published
}

// Object ids of types, which are the same in every PostgreSQL.
const (
	int8Type, int4Type, textType, jsonbType, timestamptzType, xid8Type = 20, 23, 25, 3802, 1184, 5069
	int8Array, int4Array, textArray, float8Array                       = 1016, 1007, 1009, 1022
)

// Names of the tables.
const (
	SingleEvents   = "single_events"
	EventBatches   = "event_batches"
	RejudgeSetJobs = "rejudge_set_jobs"
)

// Tables returns the tables. Of the jobs in rejudge sets the feed knows which judgings belong to a set, so that it can
// leave them out, and nothing else.
func Tables() []Table {
	return []Table{
		{SingleEvents, []Column{
			{"id", int8Type, false},
			{"xid", xid8Type, true},
			{"job_id", int8Type, false},
			{"generation", int4Type, false},
			{"attempt", int4Type, false},
			{"kind", textType, false},
			{"data", jsonbType, false},
			{"at", timestamptzType, false},
		}},
		{EventBatches, []Column{
			{"xid", xid8Type, true},
			{"id", int8Type, false},
			{"kind", textType, false},
			{"at", timestamptzType, false},
			{"job_ids", int8Array, false},
			{"generations", int4Array, false},
			{"attempts", int4Array, false},
			{"data", jsonbType, false},
			{"verdicts", textArray, false},
			{"scores", float8Array, false},
		}},
		{RejudgeSetJobs, []Column{{"job_id", int8Type, false}, {"generation", int4Type, false}}},
	}
}

// Published returns the columns that are in the publication.
func (t Table) Published() []Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool { return c.Read })
}

// names are the columns, as SQL lists them.
func names(columns []Column) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	return strings.Join(all, ", ")
}

// list is what CREATE PUBLICATION and ALTER PUBLICATION take.
func list() string {
	var all []string
	for _, t := range Tables() {
		all = append(all, t.Name+" ("+names(t.Published())+")")
	}
	return strings.Join(all, ", ")
}

// Grants returns the statements by which the owner of the tables lets a role read them.
func Grants(role string) (all []string) {
	for _, t := range Tables() {
		all = append(all, fmt.Sprintf("GRANT SELECT (%s) ON %s TO %s", names(t.Columns), t.Name, Quote(role)))
	}
	return all
}

// Create returns the statement that makes the publication.
func Create(publication string) string {
	return fmt.Sprintf("CREATE PUBLICATION %s FOR TABLE %s WITH (publish = 'insert')", Quote(publication), list())
}

// Mend returns the statements that make a publication that exists what it should be.
func Mend(publication string) []string {
	name := Quote(publication)
	return []string{
		fmt.Sprintf("ALTER PUBLICATION %s SET (publish = 'insert')", name),
		fmt.Sprintf("ALTER PUBLICATION %s SET TABLE %s", name, list()),
	}
}

// Script returns the SQL by which an administrator prepares a PostgreSQL that is not the embedded one. It is for psql,
// which asks for the password; it may be run again, and does then what is missing.
func Script(role, publication string) string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	line("-- What the change feed of Deep-OJ needs in PostgreSQL 15 or newer. Run it with psql as an administrator, in the database")
	line("-- of the judge. The server needs wal_level=logical, which takes a restart; max_slot_wal_keep_size bounds what it keeps")
	line("-- for a feed that is away:")
	line("--   ALTER SYSTEM SET wal_level = 'logical';")
	line("--   ALTER SYSTEM SET max_slot_wal_keep_size = '64GB';")
	line("\\set ON_ERROR_STOP on")
	line("SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = %s) AS missing \\gset", literal(role))
	line("\\if :missing")
	line("CREATE ROLE %s LOGIN REPLICATION;", Quote(role))
	line("\\password %s", Quote(role))
	line("\\endif")
	line("ALTER ROLE %s LOGIN REPLICATION NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;", Quote(role))
	for _, g := range Grants(role) {
		line("%s;", g)
	}
	line("SELECT NOT EXISTS (SELECT FROM pg_publication WHERE pubname = %s) AS missing \\gset", literal(publication))
	line("\\if :missing")
	line("%s;", Create(publication))
	line("\\else")
	for _, m := range Mend(publication) {
		line("%s;", m)
	}
	line("\\endif")
	line("-- pg_hba.conf has to let the role in, in a line of the database, not of \"replication\", such as:")
	line("--   hostssl DATABASE %s ADDRESS scram-sha-256", role)
	return b.String()
}

// Quote makes an identifier of a name.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
