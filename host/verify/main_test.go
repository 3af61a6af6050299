package verify_test

import (
	"os"
	"testing"

	"deepoj/host/judging/judgingtest"
)

func TestMain(m *testing.M) { os.Exit(judgingtest.Main(m, "verify", 63000, nil)) }
