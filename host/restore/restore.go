// Package restore makes a round of a contest package: of our own, which has the log of its round, or of any other system, of
// which a log is made as the recorder would have written it.
//
// Either way the log says everything: what is stored of the round is what it said last, so the round goes on where it was, and
// packing it again gives the same bytes.
//
// Its files:
//
//	restore.go  a contest, and what is wrong with its package
//	lines.go    lines of a log that mean the same everywhere
//	logos.go    logos of organizations
//	foreign.go  a log of the objects of the Contest API
//	extras.go   persons, accounts and commentary
//	objects.go  those objects
//	past.go     what the log said last, as it is stored
//	problems.go the problems of a contest, as far as a server has them
//	statements.go statements and attachments of problems
//	sources.go  what was handed in
//	recount.go  boards, counted twice
//	rehearsal.go  a contest to hand in again
//	wire.go     what came of a package, from one process to another
//
// Source: Contest API and Contest Package Format, releases 2023-06 and 2026-01, of the ICPC's specifications.
package restore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/sql/rounds"
)

// Options say into what a contest is made.
type Options struct {
	Space string    // short name of the space
	Code  string    // short name of the round; "" = as in the package
	Now   time.Time // nothing of the package may be later
}

// Contest is what a package says.
type Contest struct {
	Past rounds.Past

	// Notes are what cannot be as the package says, and is otherwise.
	Notes []string

	// Foreign says that the package is of another system.
	Foreign bool

	// Packages are where the archive has the packages of problems, by short name: the name of a ZIP file, or of a folder,
	// with a slash behind it.
	Packages map[string]string

	// Files are the statements, which are PDF, and the attachments that came with problems.
	Files []File

	lines    []Line
	problems map[string]contest.ProblemData // by short name
}

// File is a statement or an attachment that came with a problem.
type File struct {
	Problem string // its short name
	Digest  string
	Data    []byte
}

// reading is a package that is being read.
type reading struct {
	files clics.Package
	opt   Options
	found []clics.Flaw
	out   *Contest

	folders map[string][]string // the files of each
	ids     map[int64]string    // of submissions in the package, where it has no numbers

	handedIn int64 // bytes of sources so far

	logos        map[string][]byte // by organization and name, of packages of other systems
	logoBytes    int
	logosRefused bool
}

// Bounds of what is read.
const (
	maxFindings = 1000
	// Times of what was before are told again when those of the round change: so many in all. A round that changes 40 times
	// after 500,000 lines has as many.
	maxRetold       = 20_000_000
	maxParticipants = 50_000
	maxLines        = 2_000_000 // of a log that is made of objects
)

func (r *reading) wrong(file, object, format string, args ...any) {
	if len(r.found) < maxFindings {
		r.found = append(r.found, clics.Flaw{File: file, Object: object, Problem: fmt.Sprintf(format, args...)})
	}
}

func (r *reading) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.out.Notes, text) && len(r.out.Notes) < maxFindings {
		r.out.Notes = append(r.out.Notes, text)
	}
}

// Read returns the contest of a package, or what is wrong with it.
func Read(p clics.Package, opt Options) (*Contest, []clics.Flaw) {
	r := &reading{files: p, opt: opt, logos: map[string][]byte{}, out: &Contest{problems: map[string]contest.ProblemData{}, Packages: map[string]string{}}}
	if r.found = p.Sound(); len(r.found) > 0 {
		return nil, r.found
	}
	if raw := p[LogFile]; raw != nil {
		lines, err := ReadLines(raw)
		if err != nil {
			r.wrong(LogFile, "", "it cannot be read: %v", err)
			return nil, r.found
		}
		r.out.lines = lines
		for i, l := range lines {
			if l.Kind == contest.KindProblem {
				r.packaged(l.Object, clics.ID(l.Object), filesOf(l))
			}
			if err := r.loggedFiles(&lines[i]); err != nil {
				r.wrong(LogFile, l.Object, "it cannot be read: %v", err)
				return nil, r.found
			}
		}
	} else {
		r.out.Foreign = true
		r.foreign()
	}
	if len(r.found) == 0 {
		r.rename()
	}
	if len(r.found) == 0 {
		r.checkLog()
	}
	if len(r.found) == 0 {
		r.past()
	}
	if len(r.found) > 0 {
		return nil, r.found
	}
	r.out.keep()
	return r.out, nil
}

// keep has the lines be the log of what is stored.
func (c *Contest) keep() {
	lines := c.lines
	c.Past.Log = func(participants map[string]int64, removed []int64) ([]rounds.PastLine, error) {
		return bound(lines, participants, removed)
	}
}

// rename gives the round the short name that was asked for.
func (r *reading) rename() {
	for i, l := range r.out.lines {
		if l.Kind != contest.KindRound || r.opt.Code == "" || l.Data == nil {
			continue
		}
		data, err := changed(l.Data, func(d *contest.RoundData) { d.Code = r.opt.Code })
		if err != nil {
			r.wrong(LogFile, l.Object, "line %d: %v", i+1, err)
			return
		}
		r.out.lines[i].Object, r.out.lines[i].Data = r.opt.Code, data
	}
}

// file is where what a line says comes from.
func (r *reading) file() string {
	if r.files[LogFile] != nil {
		return LogFile
	}
	return "contest.json"
}

// checkLog refuses a log that nothing can be made of: it is folded for everybody who could look at it.
func (r *reading) checkLog() {
	var before time.Time
	retold, objects := 0, map[contest.Kind]map[string]bool{contest.KindProblem: {}, contest.KindParticipant: {}}
	for i, l := range r.out.lines {
		switch {
		case !slices.Contains(contest.Kinds, l.Kind):
			r.wrong(r.file(), l.Object, "line %d is of no kind that there is", i+1)
		case l.Audience == 0 || l.Audience > contest.Everybody|contest.Own:
			r.wrong(r.file(), l.Object, "line %d is for nobody", i+1)
		case l.At.Before(before):
			r.wrong(r.file(), l.Object, "line %d is older than the one before it", i+1)
		case l.At.After(r.opt.Now):
			r.wrong(r.file(), l.Object, "line %d is of %s, which is to come; is the clock of this server right?", i+1, l.At.Format(time.RFC3339))
		}
		before = l.At
		if l.Kind == contest.KindRound {
			retold += i
		}
		if those := objects[l.Kind]; those != nil {
			those[l.Object] = true
		}
	}
	if n := len(objects[contest.KindProblem]); n > judge.MaxRoundProblems {
		r.wrong(r.file(), "", "there are %d problems; a round has at most %d", n, judge.MaxRoundProblems)
	}
	if n := len(objects[contest.KindParticipant]); n > maxParticipants {
		r.wrong(r.file(), "", "there are %d participants; what is imported has at most %d", n, maxParticipants)
	}
	if retold > maxRetold {
		r.wrong(r.file(), "", "the round changes too often for a log of %d lines: what was before may be told again %d times in all", len(r.out.lines), maxRetold)
	}
	if len(r.found) > 0 {
		return
	}
	if err := tellable(r.out.lines); err != nil {
		r.wrong(r.file(), "", "%v", err)
	}
}

// tellable is an error where the Contest API cannot tell what lines say, or a board cannot be made of it.
func tellable(lines []Line) error {
	teller := clics.NewTeller(clics.Form{Version: clics.V202601}, nil, true)
	numbers := map[string]int64{}
	for _, l := range lines {
		if l.Kind == contest.KindParticipant && numbers[l.Object] == 0 {
			numbers[l.Object] = int64(len(numbers) + 1)
		}
	}
	bounded, err := bound(lines, numbers, nil)
	if err != nil {
		return err
	}
	for i, l := range bounded {
		line := clics.Line{Kind: contest.Kind(l.Kind), Object: l.Object.Object}
		if !l.Gone {
			line.Data = l.Data
		}
		if _, _, err := teller.Tell(line); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, of := range []contest.Audience{contest.Public, contest.Teams, contest.Jury | contest.Staff} {
		if _, err := fold(lines, of); err != nil {
			return err
		}
	}
	return nil
}

// byTime sorts lines by when they were written, those of one moment as they are.
func byTime(lines []Line) {
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
}

// sortedNames are names in their order.
func sortedNames(names []string) []string {
	slices.Sort(names)
	return names
}
