package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/feed"
)

// final makes an error that does not end by waiting.
func final(format string, a ...any) error { return &feed.FinalError{Err: fmt.Errorf(format, a...)} }

// SQLSTATEs that mean something here.
const (
	wrongPassword    = "28P01"
	notAllowed       = "28000" // by pg_hba.conf, or the role is not there
	noDatabase       = "3D000"
	noPrivilege      = "42501"
	limitReached     = "53400" // of slots
	tooManyConnected = "53300"
)

// explain completes an error of a connection with what to do about it. One that only a person can do something about
// is final.
func (s *Source) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		if parse := (*pgconn.ParseConfigError)(nil); errors.As(err, &parse) {
			return final("postgres_url: %w", err)
		}
		return fmt.Errorf("postgres_url: %s: %w", doing, err)
	}
	switch said.Code {
	case wrongPassword:
		return final("postgres_url: %s: %w: the password is wrong, or the role is not there: mend the URL, or let an administrator say \\password", doing, err)
	case notAllowed:
		return final("postgres_url: %s: %w: pg_hba.conf has to have a line for this role, this database (not \"replication\") and this "+
			"address, and the role has to be there: `deepoj feed --sql` prints the SQL that makes it", doing, err)
	case noDatabase:
		return final("postgres_url: %s: %w: name the database of the judge", doing, err)
	case noPrivilege:
		return final("postgres_url: %s: %w: let an administrator run what `deepoj feed --sql` prints", doing, err)
	case limitReached:
		return final("postgres_slot=%s: %s: %w: drop a slot that nobody needs, or raise max_replication_slots, which takes a restart", s.o.Slot, doing, err)
	case tooManyConnected:
		return fmt.Errorf("postgres_url: %s: %w: raise max_wal_senders or max_connections if this does not pass", doing, err)
	}
	return fmt.Errorf("postgres_url: %s: %w", doing, err)
}
