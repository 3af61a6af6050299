package sql

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// awayCodes are the SQLSTATEs of a server that is stopping or starting, beside all
// of class 08, connection exceptions, and of class 53, insufficient resources: too
// many connections, a full disk, no memory. See PostgreSQL's appendix "Error Codes".
var awayCodes = []string{"57P01", "57P02", "57P03", "57P05"}

// Away reports whether err says that the database could not be reached, or that the connection broke: an outage, which
// heals by itself, and not a mistake. It holds too for a connection that broke before and was only now found to be so.
// What a broken connection carried may have been stored.
func Away(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(pe.Code, "08") || strings.HasPrefix(pe.Code, "53") || slices.Contains(awayCodes, pe.Code)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, broken := range []error{pgconn.ErrConnClosed, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}

// Refused reports whether err says that the server does not accept the user, the password, or that way to connect:
// class 28 of SQLSTATE, invalid authorization specification.
func Refused(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(e.Code, "28")
}
