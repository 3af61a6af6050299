package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
)

// root is the folder of the module.
const root = "../.."

// TestOldAndNewVersionsWorkSideBySide upgrades a Deep-OJ process by process
// while jobs run, and takes one worker back.
//
// The old version is the one that DEEPOJ_UPGRADE_FROM names (a commit or a tag),
// or else the newest tag before this commit, or else this program. The new
// version is this program with one more step of the schema.
func TestOldAndNewVersionsWorkSideBySide(t *testing.T) {
	old, known := oldProgram(t)
	next, steps := laterProgram(t, known), len(stepsOf(t, root))
	c := newClusterOf(t, old, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var accepted []int64
	hand := func(to *client.Client, n int) {
		t.Helper()
		for range n {
			p := verdictPrograms[0]
			r, err := to.Submit(ctx, client.NewSubmission{Problem: "aplusb", Language: p.language, Sources: []judge.Source{{Name: p.file, Text: p.text}}})
			if err != nil {
				t.Fatal(err)
			}
			accepted = append(accepted, r.JobID)
		}
	}
	checked := 0
	// judgedBy hands in until each of the workers has judged something since.
	judgedBy := func(to *client.Client, workers ...string) {
		t.Helper()
		missing := map[string]bool{}
		for _, w := range workers {
			missing[w] = true
		}
		for len(missing) > 0 || checked < len(accepted) {
			if len(missing) > 0 {
				hand(to, 4)
			}
			for ; checked < len(accepted); checked++ {
				if _, err := to.Wait(ctx, accepted[checked]); err != nil {
					t.Fatalf("%v; %v have not judged yet", err, missing)
				}
				// People are not told the worker; and the schema may be that of the old version.
				by := sqltest.One[string](t, c.store, `SELECT r.verdict || ' ' || r.worker FROM jobs j JOIN results r ON r.job_id = j.job_id AND r.generation = j.live_generation
					WHERE j.job_id = $1`, accepted[checked])
				worker, right := strings.CutPrefix(by, string(judge.AC)+" ")
				if !right {
					t.Fatalf("submission %d: %s", accepted[checked], by)
				}
				for w := range missing {
					if strings.HasPrefix(worker, w) {
						delete(missing, w)
					}
				}
			}
			c.checkAudit(ctx)
		}
	}

	old0, old1 := c.workerOf(old, "old-0"), c.workerOf(old, "old-1")
	judgedBy(c.client, "old-0", "old-1")
	scores := c.classOf(ctx)

	// New processes come while the old ones work; the first migrates.
	hand(c.client, 10)
	newURL, newClient, _ := c.start(next)
	if schema, err := c.store.Schema(ctx); err != nil || schema.Version != steps+1 {
		t.Fatalf("the schema is %+v (%v), want version %d", schema, err, steps+1)
	}
	hand(newClient, 5)
	c.workerOf(next, "new-0")
	old1.stop()
	judgedBy(c.client, "old-0", "new-0")
	if known < 37 { // of a later version every step has a round beside the space, or staff made one
		c.boardIs(ctx, newURL, "class", scores)
	}

	// The last old processes go.
	hand(newClient, 5)
	for _, p := range append(c.roles, old0) {
		p.stop()
	}
	new1 := c.workerOf(next, "new-1")
	judgedBy(newClient, "new-0", "new-1")

	// One worker goes a version back.
	hand(newClient, 5)
	new1.stop()
	c.workerOf(old, "old-2")
	judgedBy(newClient, "new-0", "old-2")
	t.Logf("%d submissions", len(accepted))
}

// classOf makes a space in which members have handed in, and returns its scores.
func (c *cluster) classOf(ctx context.Context) []judge.SpaceScore {
	c.t.Helper()
	must := func(err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
	}
	must(c.store.CreateSpace(ctx, judge.Space{Slug: "class", Title: "Class", Listed: true}, "prof"))
	space, err := c.store.Space(ctx, "class", "")
	must(err)
	hash, err := people.HashPassword("a password of the class")
	must(err)
	must(c.store.PutSpaceProblem(ctx, space.ID, "aplusb", 1, new(10.0), "prof"))
	names := []string{"ann", "bea", "cem"}
	for _, name := range names {
		must(c.store.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: hash, Role: judge.RoleContestant}))
	}
	_, err = c.store.PutSpaceMembers(ctx, space.ID, names, judge.SpaceContestant, "prof")
	must(err)
	for i, p := range verdictPrograms[:2] {
		receipts, err := c.store.Submit(ctx, sqltest.Sub(names[i], func(n *sql.NewJob) {
			n.Space, n.Language, n.Sources = space.ID, p.language, []judge.Source{{Name: p.file, Text: p.text}}
		}))
		must(err)
		c.eventually(ctx, "the class is judged", func() bool { // in the schema of the old version
			return sqltest.One[bool](c.t, c.store, "SELECT live_generation IS NOT NULL FROM jobs WHERE job_id = $1", receipts.JobID)
		})
	}
	scores, err := c.store.SpaceScores(ctx, space.ID, 0)
	must(err)
	if len(scores) != 3 || scores[0].Points != 10 || scores[2].Points != 0 {
		c.t.Fatalf("the scores of the class are %+v", scores)
	}
	return scores
}

// boardIs has the board of a round become what the scores of its space were, row by row.
func (c *cluster) boardIs(ctx context.Context, url, round string, scores []judge.SpaceScore) {
	c.t.Helper()
	var want, got []string
	for _, s := range scores {
		want = append(want, fmt.Sprint(s.Name, " ", s.Solved, " ", s.Points))
	}
	guest, err := client.New(url)
	if err != nil {
		c.t.Fatal(err)
	}
	token, err := guest.Login(ctx, scores[0].Name, "a password of the class")
	if err != nil {
		c.t.Fatal(err)
	}
	to, err := client.New(url, client.WithToken(token))
	if err != nil {
		c.t.Fatal(err)
	}
	c.eventually(ctx, "the board of the class is its scores", func() bool {
		board, err := to.GetRoundBoard(ctx, round, client.GetRoundBoardParams{})
		if err != nil {
			c.t.Fatal(err)
		}
		got = nil
		for _, r := range board.Rows {
			got = append(got, fmt.Sprint(r.Participant, " ", r.Solved, " ", r.Points))
		}
		return slices.Equal(got, want)
	})
}

// stepsOf returns the steps of the schema in a source tree: what each asks of a
// program.
func stepsOf(t *testing.T, tree string) (least []int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(tree, "sql", "migrations", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no migrations: %v", tree, err)
	}
	for i, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := i + 1
		if m := regexp.MustCompile(`(?m)^-- min_binary: (\d+)$`).FindSubmatch(text); m != nil {
			n, _ = strconv.Atoi(string(m[1]))
		}
		least = append(least, n)
	}
	return least
}

// laterProgram builds this program with one more step, after which programs that
// know the first ones go on working.
func laterProgram(t *testing.T, known int) string {
	t.Helper()
	dir := folder(t)
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	steps := len(stepsOf(t, tree))
	step, overlay, program := filepath.Join(dir, "later.sql"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "deepoj")
	text := fmt.Sprintf("-- min_binary: %d\nALTER TABLE jobs ADD COLUMN later text NOT NULL DEFAULT 'x';\nCREATE TABLE later (id bigint PRIMARY KEY);\n", known)
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(tree, "sql", "migrations", fmt.Sprintf("%04d_later.sql", steps+1)): step,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{step: text, overlay: string(replace)} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build(t, tree, program, "-overlay", overlay)
	return program
}

// oldProgram builds the version before this one, if the repository has one that
// suits the schema, and returns how many steps of it that knows.
func oldProgram(t *testing.T) (string, int) {
	t.Helper()
	from := os.Getenv("DEEPOJ_UPGRADE_FROM")
	if from == "" {
		tag, err := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0", "HEAD^").Output()
		if err != nil {
			t.Log("the repository has no version before this one: this program is the old one, too")
			return binary, len(stepsOf(t, root))
		}
		from = strings.TrimSpace(string(tag))
	}
	dir := folder(t)
	tree, program := filepath.Join(dir, "source"), filepath.Join(dir, "deepoj")
	// What is built and not committed is taken from here, but for the adapters, which suit their own version.
	const unpack = `mkdir "$1" && git -C "$2" archive "$3" | tar -x -C "$1" && cp -r "$2/plugins/dist" "$1/plugins/" && rm -f "$1"/plugins/dist/adapters.pack && make -C "$1" plugins && cp -r "$2/web/static/dist" "$1/web/static/"`
	if out, err := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", unpack, "unpack", tree, root, from).CombinedOutput(); err != nil {
		t.Fatalf("unpack %s: %v\n%s", from, err, out)
	}
	known, least := len(stepsOf(t, tree)), slices.Max(stepsOf(t, root))
	if known < least {
		t.Logf("%s knows %d steps of the schema, which asks for %d: this program is the old one, too", from, known, least)
		return binary, len(stepsOf(t, root))
	}
	t.Logf("the old version is %s", from)
	build(t, tree, program)
	return program, known
}

func build(t *testing.T, tree, program string, flags ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-trimpath", "-buildvcs=false"}, flags...), "-o", program, "./host/cmd/deepoj")...)
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", tree, err, out)
	}
}
