package intake_test

import (
	"os"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) {
	os.Exit(judgingtest.Main(m, "intake", 63400, func() int { return sqltest.Main(m) }))
}
