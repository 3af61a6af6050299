package rounds_test

import (
	"os"
	"testing"

	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }
