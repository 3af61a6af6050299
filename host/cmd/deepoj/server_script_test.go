package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/problem/problemtest"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	"deepoj/web"
)

// TestTheCommandLineTalksToAServer runs the scripts in testdata/server, each with a server of its own: URL leads to it,
// and DSN to its database. There are the accounts ann (contestant), prof (staff) and root (admin) with the password of
// password.txt, and new with the one of once.txt; there is a package of the problem small; and there is a worker that
// does what the command finish says.
func TestTheCommandLineTalksToAServer(t *testing.T) {
	t.Parallel()
	hash, err := people.HashPassword("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("testdata/server/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			dsn := sqltest.DSN(t)
			blobs, err := blob.OpenDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			store, url := serve(t, dsn, func(c *web.Config) { c.Blobs, c.MaxPackage = blobs, 1<<20 })
			for name, role := range map[string]judge.Role{"ann": judge.RoleContestant, "new": judge.RoleContestant, "prof": judge.RoleStaff, "root": judge.RoleAdmin} {
				if err := store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: hash, Role: role, OneTime: name == "new"}); err != nil {
					t.Fatal(err)
				}
			}
			err = store.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Title: "A plus B", Version: "sha256:01", Samples: []judge.Sample{}}, "prof")
			if err != nil {
				t.Fatal(err)
			}
			pkg, _ := problemtest.Read(t, nil)
			pkg.Slug = "small"
			if _, err := pkg.Save(t.Context(), blobs); err != nil {
				t.Fatal(err)
			}
			if err := store.KeepVersion(t.Context(), pkg.Judge(), "prof", 0); err != nil {
				t.Fatal(err)
			}
			tries := 0
			testscript.Run(t, testscript.Params{
				Files: []string{script},
				Setup: func(env *testscript.Env) error {
					env.Setenv("URL", url)
					env.Setenv("DSN", dsn)
					env.Setenv("HOME", env.WorkDir)
					return ownEtc(env)
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					// finish JOB VERDICT has the worker judge a job; the verdict dead makes it a dead letter.
					"finish": func(ts *testscript.TestScript, _ bool, args []string) {
						id, err := strconv.ParseInt(args[0], 10, 64)
						ts.Check(err)
						tries++
						a := sqltest.Claim(t, store, id, "w1", tries).Attempt
						if args[1] == "dead" {
							ts.Check(store.Bury(t.Context(), a, judge.ReasonPayload, "schema_version 7"))
							return
						}
						ts.Check(store.Finalize(t.Context(), a, judge.Result{Verdict: judge.Verdict(args[1])}))
					},
				},
			})
		})
	}
}
