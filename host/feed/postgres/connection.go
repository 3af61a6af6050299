package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	connectTimeout = 10 * time.Second
	askTimeout     = 30 * time.Second // of what PostgreSQL answers from memory
	readBuffer     = 256 << 10
	longestMessage = 512 << 20 // more than a row may have that is kept here
)

// newName is what connections of a source are called, so that one is told from others.
func newName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("deepoj-feed %.20s/%d/%04x", host, os.Getpid(), rand.N(1<<16)) //nolint:gosec // nothing depends on that nobody guesses it
}

func parse(address, name string) (*pgconn.Config, error) {
	cfg, err := pgconn.ParseConfig(address)
	if err != nil {
		return nil, final("postgres_url: %w", err)
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(bufio.NewReaderSize(r, readBuffer), w)
	}
	cfg.MaxProtocolMessageBodyLen = longestMessage
	cfg.RuntimeParams["application_name"] = name
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	for _, bound := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		cfg.RuntimeParams[bound] = "0" // what is asked has bounds of its own
	}
	return cfg, nil
}

// connect opens a connection; one for replication speaks its commands, too.
func (s *Source) connect(ctx context.Context, replication bool) (*pgconn.PgConn, error) {
	cfg, err := parse(s.o.URL, s.name)
	if err != nil {
		return nil, err
	}
	doing := "connect"
	if replication {
		cfg.RuntimeParams["replication"] = "database"
		cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
			return pgproto3.NewFrontend(bufio.NewReaderSize(&paced{r: r}, readBuffer), w)
		}
		doing = "connect for replication"
	}
	c, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, s.explain(doing, err)
	}
	return c, nil
}

// ask runs a statement that answers at once, and returns its rows as text. NULL is an empty string.
func ask(ctx context.Context, c *pgconn.PgConn, statement string) (rows [][]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return rowsOf(ctx, c, statement)
}

func rowsOf(ctx context.Context, c *pgconn.PgConn, statement string) (rows [][]string, err error) {
	results, err := c.Exec(ctx, statement).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if r.Err != nil {
			return nil, r.Err
		}
		for _, values := range r.Rows {
			row := make([]string, len(values))
			for i, v := range values {
				row[i] = string(v)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// quoted makes a literal of a text.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// parseLSN reads a position as PostgreSQL prints it.
func parseLSN(text string) (uint64, error) {
	high, low, ok := strings.Cut(text, "/")
	h, err1 := strconv.ParseUint(high, 16, 32)
	l, err2 := strconv.ParseUint(low, 16, 32)
	if !ok || err1 != nil || err2 != nil {
		return 0, fmt.Errorf("%q is no position in PostgreSQL's log", text)
	}
	return h<<32 | l, nil
}
