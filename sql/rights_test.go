package sql_test

import (
	"strings"
	"testing"

	"deepoj/sql/sqltest"
)

func TestTheRoleOfTheProgramHasNoRightsBeyondItsDatabase(t *testing.T) {
	role, beyond, err := sqltest.DB(t).Rights(t.Context())
	if err != nil || role != "deepoj" || len(beyond) > 0 {
		t.Errorf("%s: %v, %v", role, beyond, err)
	}
	superuser := sqltest.Open(t, strings.Replace(sqltest.DSN(t), "deepoj@", "deepoj_superuser@", 1))
	role, beyond, err = superuser.Rights(t.Context())
	if err != nil || role != "deepoj_superuser" || !strings.HasPrefix(strings.Join(beyond, ", "), "superuser, replication, makes roles") {
		t.Errorf("%s: %v, %v", role, beyond, err)
	}
}
