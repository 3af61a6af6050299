package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/sql/published"
)

// oldest is the first version of PostgreSQL that publishes some columns of a table.
const oldest = 15

// server is what has to be known of one.
type server struct {
	patience time.Duration // wal_sender_timeout; 0 = for ever
	keeps    string        // max_slot_wal_keep_size in MB; -1 = everything
}

// look finds out whether a server, its role and its publication are as they have to be.
func (s *Source) look(ctx context.Context, c *pgconn.PgConn) (found server, err error) {
	rows, err := ask(ctx, c, `SELECT current_setting('server_version_num')::int / 10000, current_setting('wal_level'), pg_is_in_recovery(),
  (SELECT setting FROM pg_settings WHERE name = 'wal_sender_timeout'), (SELECT setting FROM pg_settings WHERE name = 'max_slot_wal_keep_size'),
  (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user), current_user`)
	if err != nil {
		return found, s.explain("ask what the server is", err)
	}
	r := rows[0]
	version, err := strconv.Atoi(r[0])
	if err != nil {
		return found, err
	}
	switch {
	case version < oldest:
		return found, final("postgres_url: the server is PostgreSQL %d, and the feed needs %d or newer, which publishes some columns of a table alone", version, oldest)
	case r[2] == "t":
		return found, errors.New("postgres_url: the server is a standby: name the primary, or wait until it has been promoted")
	case r[1] != "logical":
		return found, final("postgres_url: the server has wal_level=%s: an administrator has to say ALTER SYSTEM SET wal_level = 'logical' and "+
			"restart it; the embedded PostgreSQL has it with CHANGE_FEED=true at the next `deepoj up`", r[1])
	case r[5] != "t":
		return found, final("postgres_url: the role %s may not replicate: let an administrator run what `deepoj feed --sql` prints, "+
			"or say ALTER ROLE %s REPLICATION", r[6], published.Quote(r[6]))
	}
	ms, err := strconv.Atoi(r[3])
	if err != nil {
		return found, err
	}
	found = server{patience: time.Duration(ms) * time.Millisecond, keeps: r[4]}
	if err := s.mayRead(ctx, c, r[6]); err != nil {
		return found, err
	}
	return found, s.isPublished(ctx, c)
}

// mayRead finds out whether the tables are there, and the role may read what a snapshot needs.
func (s *Source) mayRead(ctx context.Context, c *pgconn.PgConn, role string) error {
	var values []string
	for _, t := range tables {
		for _, column := range t.Columns {
			values = append(values, "("+quoted(t.Name)+", "+quoted(column.Name)+")")
		}
	}
	rows, err := ask(ctx, c, `SELECT t, c, to_regclass(t) IS NOT NULL, a.attname IS NOT NULL, a.attname IS NOT NULL AND has_column_privilege(to_regclass(t), a.attnum, 'SELECT')
FROM (VALUES `+strings.Join(values, ", ")+`) AS v(t, c)
LEFT JOIN pg_attribute a ON a.attrelid = to_regclass(t) AND a.attname = c AND NOT a.attisdropped`)
	if err != nil {
		return s.explain("ask what the role may read", err)
	}
	for _, r := range rows {
		switch {
		case r[2] != "t":
			return final("postgres_url: the database %s has no table %s: name the database of the judge, or start the judge once, which makes it", s.db, r[0])
		case r[3] != "t":
			return final("postgres_url: table %s has no column %s: start the version of the judge that belongs to this feed, which makes it", r[0], r[1])
		case r[4] != "t":
			return final("postgres_url: the role %s may not read %s.%s: let an administrator run what `deepoj feed --sql` prints", role, r[0], r[1])
		}
	}
	return nil
}

// isPublished finds out whether the publication has what it should have, and nothing else.
func (s *Source) isPublished(ctx context.Context, c *pgconn.PgConn) error {
	name := s.o.Publication
	const remedy = "let an administrator run what `deepoj feed --sql` prints"
	rows, err := ask(ctx, c, `SELECT puballtables, pubinsert, pubupdate OR pubdelete OR pubtruncate FROM pg_publication WHERE pubname = `+quoted(name))
	switch {
	case err != nil:
		return s.explain("look at the publication", err)
	case len(rows) == 0:
		return final("postgres_publication=%s: there is no such publication: %s", name, remedy)
	case rows[0][0] == "t":
		return final("postgres_publication=%s publishes all tables, with programs and passwords: drop it, and %s", name, remedy)
	case rows[0][1] != "t" || rows[0][2] == "t":
		return final("postgres_publication=%s: must publish inserts, and nothing else: %s", name, remedy)
	}
	rows, err = ask(ctx, c, `SELECT tablename, array_to_string(attnames, ' '), rowfilter IS NOT NULL FROM pg_publication_tables WHERE pubname = `+quoted(name))
	if err != nil {
		return s.explain("look at the publication", err)
	}
	got := map[string]string{}
	for _, r := range rows {
		if r[2] == "t" {
			return final("postgres_publication=%s: leaves out rows of %s: %s", name, r[0], remedy)
		}
		got[r[0]] = r[1]
	}
	for _, t := range tables {
		want := t.Published()
		has := strings.Fields(got[t.Name])
		delete(got, t.Name)
		for _, column := range want {
			if !slices.Contains(has, column.Name) {
				return final("postgres_publication=%s: is without %s.%s: %s", name, t.Name, column.Name, remedy)
			}
		}
		if len(has) > len(want) {
			return final("postgres_publication=%s: publishes %s (%s), and the feed may get no columns but %s: %s",
				name, t.Name, strings.Join(has, ", "), columnNames(want), remedy)
		}
	}
	for other := range got {
		return final("postgres_publication=%s: publishes %s, which the feed may not get: %s", name, other, remedy)
	}
	return nil
}

// slot is a replication slot as the server shows it.
type slot struct {
	there, active, lost bool
	pid                 string
	confirmed           uint64
}

func (s *Source) slot(ctx context.Context, c *pgconn.PgConn) (found slot, err error) {
	rows, err := ask(ctx, c, `SELECT slot_type, coalesce(plugin, ''), coalesce(database, ''), active, coalesce(active_pid, 0), coalesce(wal_status, ''),
  coalesce(confirmed_flush_lsn, '0/0'), current_database() FROM pg_replication_slots WHERE slot_name = `+quoted(s.o.Slot))
	if err != nil {
		return found, s.explain("look at the slot", err)
	}
	if len(rows) == 0 {
		return found, nil
	}
	r := rows[0]
	if r[0] != "logical" || r[1] != plugin || r[2] != r[7] {
		return found, final("postgres_slot=%s: is a slot of something else (%s): choose another name", s.o.Slot,
			strings.Join(slices.DeleteFunc([]string{r[0], r[1], r[2]}, func(w string) bool { return w == "" }), ", "))
	}
	found = slot{there: true, active: r[3] == "t", lost: r[5] == "lost", pid: r[4]}
	found.confirmed, err = parseLSN(r[6])
	return found, err
}

// plugin is PostgreSQL's own decoder.
const plugin = "pgoutput"

// idle returns the slot when nobody uses it. A connection of a feed that has died goes away by itself, at once where the
// machine lives, and after wal_sender_timeout where it does not. Another feed does not.
func (s *Source) idle(ctx context.Context, c *pgconn.PgConn) (slot, error) {
	for end := time.Now().Add(slotPatience); ; {
		found, err := s.slot(ctx, c)
		if err != nil || !found.active {
			return found, err
		}
		if time.Now().After(end) {
			return found, s.taken(ctx, c, found)
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return found, ctx.Err()
		case <-timer.C:
		}
	}
}

// taken is the error of a slot that is in use. If it is this feed that uses it, by a connection that has died without a
// word, that passes.
func (s *Source) taken(ctx context.Context, c *pgconn.PgConn, found slot) error {
	rows, err := ask(ctx, c, `SELECT coalesce(application_name, ''), coalesce(host(client_addr), 'this machine'), coalesce(date_trunc('second', backend_start)::text, '')
FROM pg_stat_activity WHERE pid = `+found.pid)
	if err != nil {
		return s.explain("look who uses the slot", err)
	}
	if len(rows) == 0 || rows[0][0] == s.name {
		return fmt.Errorf("postgres_slot=%s: is in use by process %s of PostgreSQL, an earlier connection of this feed, until it notices", s.o.Slot, found.pid)
	}
	r := rows[0]
	return final("postgres_slot=%s: is in use by %q from %s since %s (process %s of PostgreSQL): a slot is for one feed; stop the other "+
		"one, or give this one a slot of its own. If its machine died, PostgreSQL notices after wal_sender_timeout", s.o.Slot, r[0], r[1], r[2], found.pid)
}

// DropSlot drops the slot of the source, if it is there: what happens from now on is not kept for the feed any more. It
// fails while a feed uses it.
func (s *Source) DropSlot(ctx context.Context) (dropped bool, err error) {
	c, err := s.connect(ctx, false)
	if err != nil {
		return false, err
	}
	defer hangUp(c)
	found, err := s.idle(ctx, c)
	if err != nil || !found.there {
		return false, err
	}
	return true, s.drop(ctx, c)
}

func (s *Source) drop(ctx context.Context, c *pgconn.PgConn) error {
	_, err := ask(ctx, c, "SELECT pg_drop_replication_slot("+quoted(s.o.Slot)+")")
	return s.explain("drop the slot", err)
}
