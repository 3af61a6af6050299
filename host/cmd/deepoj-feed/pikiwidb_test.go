package main

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"deepoj/host/feed/pikiwidb/mastertest"
)

// masters are those of scripts, by their ports.
var masters sync.Map

// startMaster starts a PikiwiDB master with the databases db0 and db1 and the password secret, at PORT.
func startMaster(ts *testscript.TestScript, _ bool, _ []string) {
	m, err := mastertest.New(mastertest.Options{Password: "secret", DBs: []string{"db0", "db1"}, ReplicationID: "one", DumpDir: ts.MkAbs("dumps")})
	ts.Check(err)
	port := strconv.Itoa(m.Port())
	masters.Store(port, m)
	ts.Setenv("PORT", port)
	ts.Defer(func() {
		m.Stop()
		if wrong := m.Complaints(); len(wrong) > 0 {
			ts.Fatalf("the master complains: %v", wrong)
		}
	})
}

// do DB COMMAND... executes a command at the master.
func do(ts *testscript.TestScript, _ bool, args []string) {
	m, _ := masters.Load(ts.Getenv("PORT"))
	m.(*mastertest.Master).Do(args[0], args[1:]...)
}

// until FILE TEXT waits until the file has the text.
func until(ts *testscript.TestScript, _ bool, args []string) {
	late := time.After(time.Minute)
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		if content, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && strings.Contains(string(content), args[1]) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("%s never has %s", args[0], args[1])
		}
	}
}
