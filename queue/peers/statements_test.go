package peers

import (
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

// statementsEnv, if set, has PostgreSQL count what each statement costs, which
// itself costs some. It needs the extension pg_stat_statements.
const statementsEnv = "STATEMENTS"

func counted() bool { return os.Getenv(statementsEnv) != "" }

// statements prints which statements of a database took longest.
func (h *house) statements(b *testing.B, database string) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), h.pg.SuperuserDSN("deepoj"))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	rows, err := conn.Query(b.Context(), `
		SELECT left(regexp_replace(query, '\s+', ' ', 'g'), 48), calls, rows, 1000 * total_exec_time / greatest(rows, 1), shared_blks_hit / calls, wal_bytes / calls
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
		WHERE d.datname = $1 AND calls > 5 ORDER BY total_exec_time DESC LIMIT 8`, database)
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("\n%-48s %8s %8s %8s %10s %10s\n", database, "calls", "rows", "µs/row", "pages/call", "WAL/call")
	for rows.Next() {
		var query string
		var calls, n, pages int64
		var perRow, wal float64
		if err := rows.Scan(&query, &calls, &n, &perRow, &pages, &wal); err != nil {
			b.Fatal(err)
		}
		fmt.Printf("%-48s %8d %8d %8.1f %10d %10.0f\n", query, calls, n, perRow, pages, wal)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
}
