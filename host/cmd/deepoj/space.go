package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"deepoj/web/client"
)

// spaceVerb is a verb of `deepoj space`. Its name may have two words. What it answers
// is printed as a table by its rows, or as JSON.
type spaceVerb struct {
	name, args, doc string
	least, most     int // arguments; most < 0 = any number
	flags           func(f *flag.FlagSet)
	run             func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error)
}

// spaceAnswer is what a verb prints.
type spaceAnswer struct {
	value any // as JSON
	head  string
	rows  [][]any
}

// spaceCommand manages courses and contests over the API of a server, as whoever the
// token belongs to.
func spaceCommand(ctx context.Context, e *env) int {
	verbs := spaceVerbs()
	for _, v := range verbs {
		words := strings.Fields(v.name)
		if len(e.args) >= len(words) && strings.Join(e.args[:len(words)], " ") == v.name {
			e.args = e.args[len(words):]
			return v.call(ctx, e)
		}
	}
	fmt.Fprint(e.stderr, "usage: deepoj space VERB [flags] [ARGUMENTS]\n\n")
	for _, v := range verbs {
		fmt.Fprintf(e.stderr, "  %-34s %s\n", strings.TrimSpace(v.name+" "+v.args), v.doc)
	}
	return 2
}

func (v spaceVerb) call(ctx context.Context, e *env) int {
	f := bareFlags(e, "space "+v.name, v.args)
	asJSON := f.Bool("json", false, "print JSON")
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	if v.flags != nil {
		v.flags(f)
	}
	args, status, ok := filesOf(f, e.args) // flags may also follow the arguments
	if !ok {
		return status
	}
	if len(args) < v.least || v.most >= 0 && len(args) > v.most {
		f.Usage()
		return 2
	}
	c, err := client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
	if err != nil {
		return e.fail(err)
	}
	answer, err := v.run(ctx, c, args)
	if err != nil {
		return e.fail(err)
	}
	if *asJSON {
		err = printJSON(e, answer.value)
	} else {
		err = answer.print(e)
	}
	if err != nil {
		return e.fail(err)
	}
	return 0
}

func (a spaceAnswer) print(e *env) error {
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	if a.head != "" {
		fmt.Fprintln(w, a.head)
	}
	for _, cells := range a.rows {
		fmt.Fprintf(w, strings.TrimSuffix(strings.Repeat("%v\t", len(cells)), "\t")+"\n", cells...)
	}
	return w.Flush()
}

// said is an answer of one sentence.
func said(value any, format string, args ...any) spaceAnswer {
	return spaceAnswer{value: value, rows: [][]any{{fmt.Sprintf(format, args...)}}}
}

func spaceVerbs() []spaceVerb {
	var change spaceSettings
	var role string
	var place int
	var points float64
	return []spaceVerb{
		{name: "list", doc: "spaces that you may see, newest first", run: func(ctx context.Context, c *client.Client, _ []string) (spaceAnswer, error) {
			return listSpaces(ctx, c)
		}},
		{name: "show", args: "SPACE", doc: "a space with its problems", least: 1, most: 1, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			return showSpace(ctx, c, args[0])
		}},
		{
			name: "create", args: "SPACE", doc: "make a space of this short name", least: 1, most: 1, flags: change.flags,
			run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
				settings, err := change.named()
				if err != nil {
					return spaceAnswer{}, err
				}
				s, err := c.CreateSpace(ctx, args[0], settings)
				return said(s, "%s is made", s.Slug), err
			},
		},
		{
			name: "update", args: "SPACE", doc: "change the settings that are given", least: 1, most: 1, flags: change.flags,
			run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
				settings, err := change.named()
				if err != nil {
					return spaceAnswer{}, err
				}
				s, err := c.UpdateSpace(ctx, args[0], settings)
				return said(s, "%s is changed", s.Slug), err
			},
		},
		{name: "delete", args: "SPACE", doc: "delete a space that nobody has handed anything in to", least: 1, most: 1, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			return said(map[string]string{"deleted": args[0]}, "%s is deleted", args[0]), c.DeleteSpace(ctx, args[0])
		}},
		{name: "scores", args: "SPACE", doc: "what contestants achieved, the best first", least: 1, most: 1, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			scores, err := c.SpaceScores(ctx, args[0])
			a := spaceAnswer{value: scores, head: "RANK\tCONTESTANT\tSOLVED\tTRIED\tPOINTS"}
			for _, s := range scores {
				a.rows = append(a.rows, []any{s.Rank, s.Name, s.Solved, s.Tried, s.Points})
			}
			return a, err
		}},
		{name: "member list", args: "SPACE", doc: "members by name", least: 1, most: 1, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			return listMembers(ctx, c, args[0])
		}},
		{name: "member add", args: "SPACE NAME...", doc: "give accounts a role in a space", least: 2, most: -1, flags: func(f *flag.FlagSet) {
			f.StringVar(&role, "role", "contestant", "contestant, setter or staff")
		}, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			value := map[string]any{"space": args[0], "role": role, "members": args[1:]}
			return said(value, "%s: %s", role, strings.Join(args[1:], ", ")), c.PutSpaceMembers(ctx, args[0], role, args[1:]...)
		}},
		{name: "member remove", args: "SPACE NAME...", doc: "take accounts out of a space", least: 2, most: -1, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			for _, name := range args[1:] {
				if err := c.RemoveSpaceMember(ctx, args[0], name); err != nil {
					return spaceAnswer{}, fmt.Errorf("%s: %w", name, err)
				}
			}
			return said(map[string]any{"space": args[0], "removed": args[1:]}, "removed: %s", strings.Join(args[1:], ", ")), nil
		}},
		{name: "problem list", args: "SPACE", doc: "problems in order", least: 1, most: 1, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			return listSpaceProblems(ctx, c, args[0])
		}},
		{name: "problem add", args: "SPACE PROBLEM", doc: "add a problem, or give it another place and points", least: 2, most: 2, flags: func(f *flag.FlagSet) {
			f.IntVar(&place, "place", 0, "1 is A; 0 = where it is, or at the end")
			f.Float64Var(&points, "points", -1, "of a full solution; 1, or the problem's own score, when not given")
		}, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			var worth *float64
			if points >= 0 {
				worth = &points
			}
			if err := c.PutSpaceProblem(ctx, args[0], args[1], place, worth); err != nil {
				return spaceAnswer{}, err
			}
			return listSpaceProblems(ctx, c, args[0])
		}},
		{name: "problem remove", args: "SPACE PROBLEM", doc: "take a problem out", least: 2, most: 2, run: func(ctx context.Context, c *client.Client, args []string) (spaceAnswer, error) {
			return said(map[string]string{"space": args[0], "removed": args[1]}, "removed: %s", args[1]), c.RemoveSpaceProblem(ctx, args[0], args[1])
		}},
	}
}

// spaceSettings are the flags of settings of a space.
type spaceSettings struct {
	set                                 *flag.FlagSet
	title, description, opens, closes   string
	languages                           string
	maxSourceKiB, maxWaiting, perMinute int
	listed                              bool
}

func (s *spaceSettings) flags(f *flag.FlagSet) {
	s.set = f
	f.StringVar(&s.title, "title", "", "for people")
	f.StringVar(&s.description, "description", "", "plain text for people")
	f.StringVar(&s.opens, "opens", "", "when it opens, such as 2030-01-31T12:00:00Z; never = it is open already")
	f.StringVar(&s.closes, "closes", "", "when it closes; never = it does not")
	f.StringVar(&s.languages, "languages", "", "ids separated by commas; empty = all that a problem takes")
	f.IntVar(&s.maxSourceKiB, "max-source-kib", 0, "the largest program; 0 = as the problem says")
	f.IntVar(&s.maxWaiting, "max-waiting", 0, "submissions of a member that are not judged yet; 0 = any number")
	f.IntVar(&s.perMinute, "per-minute", 0, "submissions of a member in a minute; 0 = any number")
	f.BoolVar(&s.listed, "listed", false, "everybody sees that it exists")
}

// named returns the settings that were given.
func (s *spaceSettings) named() (client.SpaceChange, error) {
	out := client.SpaceChange{}
	var errs []error
	when := func(name, text string) any {
		if text == "never" {
			return nil
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s %s: want a time like 2030-01-31T12:00:00Z, or never", name, text))
		}
		return at
	}
	s.set.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "title":
			out["title"] = s.title
		case "description":
			out["description"] = s.description
		case "opens":
			out["opens_at"] = when("opens", s.opens)
		case "closes":
			out["closes_at"] = when("closes", s.closes)
		case "languages":
			out["languages"] = strings.FieldsFunc(s.languages, func(r rune) bool { return r == ',' || r == ' ' })
		case "max-source-kib":
			out["max_source_kib"] = s.maxSourceKiB
		case "max-waiting":
			out["max_waiting"] = s.maxWaiting
		case "per-minute":
			out["per_minute"] = s.perMinute
		case "listed":
			out["listed"] = s.listed
		}
	})
	return out, errors.Join(errs...)
}

func listSpaces(ctx context.Context, c *client.Client) (spaceAnswer, error) {
	all := []client.Space{}
	for before := ""; ; {
		found, next, err := c.Spaces(ctx, before, listPage)
		if err != nil {
			return spaceAnswer{}, err
		}
		all = append(all, found...)
		if before = next; next == "" {
			return spacesTable(all, all), nil
		}
	}
}

// spacesTable is a table of spaces.
func spacesTable(value any, spaces []client.Space) spaceAnswer {
	a := spaceAnswer{value: value, head: "SPACE\tPHASE\tOPENS\tCLOSES\tPROBLEMS\tMEMBERS\tYOU\tTITLE"}
	stamp := func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return t.UTC().Format(time.RFC3339)
	}
	for _, s := range spaces {
		a.rows = append(a.rows, []any{s.Slug, s.Phase, stamp(s.Opens), stamp(s.Closes), s.Problems, s.Members, firstOf(s.Role, "-"), s.Title})
	}
	return a
}

// showSpace shows a space, and its problems if the caller may see them.
func showSpace(ctx context.Context, c *client.Client, slug string) (spaceAnswer, error) {
	s, err := c.Space(ctx, slug)
	if err != nil {
		return spaceAnswer{}, err
	}
	value := map[string]any{"space": s}
	a := spacesTable(value, []client.Space{s})
	list, err := listSpaceProblems(ctx, c, slug)
	var refused *client.Problem
	if errors.As(err, &refused) && refused.Status == 403 { // not yet, or not for the caller
		return a, nil
	}
	if err != nil {
		return spaceAnswer{}, err
	}
	value["problems"] = list.value
	a.rows = append(a.rows, []any{""}, []any{list.head})
	a.rows = append(a.rows, list.rows...)
	return a, nil
}

func listMembers(ctx context.Context, c *client.Client, slug string) (spaceAnswer, error) {
	all := []client.SpaceMember{}
	a := spaceAnswer{head: "NAME\tROLE\tADDED"}
	for after := ""; ; {
		found, next, err := c.SpaceMembers(ctx, slug, after)
		if err != nil {
			return spaceAnswer{}, err
		}
		for _, m := range found {
			a.rows = append(a.rows, []any{m.Name, m.Role, m.Added.UTC().Format(time.RFC3339)})
		}
		all = append(all, found...)
		if after = next; next == "" {
			a.value = all
			return a, nil
		}
	}
}

func listSpaceProblems(ctx context.Context, c *client.Client, slug string) (spaceAnswer, error) {
	list, err := c.SpaceProblems(ctx, slug)
	a := spaceAnswer{value: list, head: "LABEL\tPROBLEM\tPOINTS\tHIDDEN\tSOLVED BY\tYOU\tTITLE"}
	for _, p := range list {
		points := "own"
		if p.Points != nil {
			points = fmt.Sprint(*p.Points)
		}
		a.rows = append(a.rows, []any{p.Label, p.Slug, points, p.Hidden, p.Solved, firstOf(string(p.Verdict), "-"), p.Title})
	}
	return a, err
}
