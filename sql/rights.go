package sql

import (
	"context"
	"fmt"
)

// rightsBeyond asks what a role may do beyond its databases: its attributes, PostgreSQL's
// own roles that it was made a member of (the one of who owns the database is everybody's
// who does), roles with such attributes that it may become, and functions that nobody may
// call unless it was granted, but the one that the program asks for the cluster's name.
const rightsBeyond = `SELECT current_user::text, array_remove(ARRAY[
	CASE WHEN rolsuper THEN 'superuser' END, CASE WHEN rolreplication THEN 'replication' END, CASE WHEN rolcreaterole THEN 'makes roles' END,
	CASE WHEN rolcreatedb THEN 'makes databases' END, CASE WHEN rolbypassrls THEN 'bypasses row security' END] ||
	CASE WHEN NOT me.rolsuper THEN
		ARRAY(SELECT r.rolname::text FROM pg_roles r
			WHERE r.rolname ^@ 'pg_' AND r.rolname <> 'pg_database_owner' AND pg_has_role(me.oid, r.oid, 'MEMBER') ORDER BY 1) ||
		ARRAY(SELECT 'may become ' || r.rolname FROM pg_roles r
			WHERE r.oid <> me.oid AND pg_has_role(me.oid, r.oid, 'MEMBER')
			AND (r.rolsuper OR r.rolreplication OR r.rolcreaterole OR r.rolcreatedb OR r.rolbypassrls) ORDER BY 1) ||
		ARRAY(SELECT DISTINCT p.proname || '()' FROM pg_proc p CROSS JOIN aclexplode(p.proacl) a
			WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname <> 'pg_control_system'
			AND a.grantee <> 0 AND a.grantee <> p.proowner AND a.grantee IN (SELECT r.oid FROM pg_roles r WHERE NOT r.rolname ^@ 'pg_' AND pg_has_role(me.oid, r.oid, 'MEMBER'))
			ORDER BY 1)
	END, NULL)
	FROM pg_roles me WHERE me.rolname = current_user`

// Rights returns the role that this program is in the database, and what that may
// do that the program does not need.
func (s *Store) Rights(ctx context.Context) (role string, beyond []string, err error) {
	if err := s.main.QueryRow(ctx, rightsBeyond).Scan(&role, &beyond); err != nil {
		return "", nil, fmt.Errorf("rights of the database role: %w", err)
	}
	return role, beyond, nil
}
