package sql

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
)

var (
	eventInserts  = regexp.MustCompile(`INSERT INTO (?:single_events|event_batches) \(([^)]*)\)\s+SELECT `)
	eventLiterals = regexp.MustCompile(`(?:THEN|ELSE|^)\s*'([a-z_]+)'`)
	eventLooks    = regexp.MustCompile(`(?:\b[etb]\.kind\s*(?:=|<>|IN)\s*\(?|event_seen\()('[a-z_]+'(?:, '[a-z_]+')*)`)
	eventMoves    = regexp.MustCompile(`FUNCTION event_moves[^$]*\$\$[^$]*kind IN \(([^)]*)\)`)
)

// files returns the text of every file of a folder.
func files(t *testing.T, fsys fs.FS, pattern string) string {
	t.Helper()
	var all strings.Builder
	names, err := fs.Glob(fsys, pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	for _, name := range names {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// column returns the nth expression of a list of them.
func column(list string, n int) string {
	depth, from := 0, 0
	for i, r := range list + "," {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 && n == 0 {
				return strings.TrimSpace(list[from:i])
			}
			if depth == 0 {
				n, from = n-1, i+1
			}
		}
	}
	return ""
}

// allQueries returns what the program asks of the database.
func allQueries(t *testing.T) string {
	t.Helper()
	return files(t, os.DirFS("."), "queries/*.sql") + files(t, statementFiles, "statements/*.sql")
}

// quoted splits 'a', 'b'.
func quoted(list string) (kinds []judge.EventKind) {
	for k := range strings.SplitSeq(list, ",") {
		kinds = append(kinds, judge.EventKind(strings.Trim(k, " '\n")))
	}
	return kinds
}

func TestTheEventsThatQueriesWriteAreTheOnesThatHaveConstants(t *testing.T) {
	queries := allQueries(t)
	written, given := map[judge.EventKind]bool{}, 0
	for _, at := range eventInserts.FindAllStringSubmatchIndex(queries, -1) {
		columns := strings.Split(queries[at[2]:at[3]], ", ")
		kind := column(queries[at[1]:], slices.Index(columns, "kind"))
		found := eventLiterals.FindAllStringSubmatch(kind, -1)
		for _, m := range found {
			written[judge.EventKind(m[1])] = true
		}
		if len(found) == 0 {
			given++
			if kind != "p.kind" {
				t.Errorf("no kind is recognized in %q", kind)
			}
		}
	}
	if given != 2 {
		t.Errorf("%d statements take the kind of an event from outside, want the two of progress", given)
	}
	for _, k := range judge.EventKinds() {
		if written[k] == k.Progress() {
			t.Errorf("%s is written by queries: %t; told by workers: %t; want one of both", k, written[k], k.Progress())
		}
		delete(written, k)
	}
	for k := range written {
		t.Errorf("queries write events of the kind %s, which has no constant", k)
	}
}

func TestTheEventsThatSQLAsksForHaveConstants(t *testing.T) {
	migrations := files(t, migrationFiles, "migrations/*.sql")
	looks := eventLooks.FindAllStringSubmatch(allQueries(t)+migrations, -1)
	if len(looks) < 9 {
		t.Errorf("only %d places that ask for the kind of an event are recognized", len(looks))
	}
	for _, m := range looks {
		for _, k := range quoted(m[1]) {
			if !slices.Contains(judge.EventKinds(), k) {
				t.Errorf("%s asks for %q, which has no constant", m[0], k)
			}
		}
	}
	moves := eventMoves.FindAllStringSubmatch(migrations, -1)
	if len(moves) == 0 {
		t.Fatal("event_moves is not found")
	}
	in := quoted(moves[len(moves)-1][1])
	for _, k := range judge.EventKinds() {
		if slices.Contains(in, k) != (k.Status() != "") {
			t.Errorf("%s is a move of a job: %t; it gives the status %q", k, slices.Contains(in, k), k.Status())
		}
	}
}
