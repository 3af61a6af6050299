package sql

import (
	"context"
	"fmt"
)

// rightsBeyond asks what a role may do beyond its databases: its attributes, and of
// PostgreSQL's own roles those that lead to files and programs of its machine.
const rightsBeyond = `SELECT current_user::text, array_remove(ARRAY[
	CASE WHEN rolsuper THEN 'superuser' END, CASE WHEN rolreplication THEN 'replication' END, CASE WHEN rolcreaterole THEN 'makes roles' END,
	CASE WHEN rolcreatedb THEN 'makes databases' END, CASE WHEN rolbypassrls THEN 'bypasses row security' END] ||
	ARRAY(SELECT r.rolname::text FROM pg_roles r WHERE NOT me.rolsuper AND pg_has_role(me.oid, r.oid, 'MEMBER') AND r.rolname IN
		('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_read_all_data', 'pg_write_all_data', 'pg_create_subscription') ORDER BY 1), NULL)
	FROM pg_roles me WHERE me.rolname = current_user`

// Rights returns the role that this program is in the database, and what that may
// do that the program does not need.
func (s *Store) Rights(ctx context.Context) (role string, beyond []string, err error) {
	if err := s.main.QueryRow(ctx, rightsBeyond).Scan(&role, &beyond); err != nil {
		return "", nil, fmt.Errorf("rights of the database role: %w", err)
	}
	return role, beyond, nil
}
