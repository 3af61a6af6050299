package intake_test

import (
	"os"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/reading"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == reading.Command {
		os.Exit(reading.Child(os.Args[1:]))
	}
	os.Exit(judgingtest.Main(m, "intake", 63400, func() int { return sqltest.Main(m) }))
}
