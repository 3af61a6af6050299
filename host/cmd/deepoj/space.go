package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"deepoj/host/command"
	"deepoj/web/client"
)

// spaceFlags are the settings of a space as flags. It returns those that were given, by their names in the API.
func spaceFlags(f *command.Flags) func() (client.SpaceChange, error) {
	type setting struct {
		flag, key string
		value     func() (any, error)
	}
	var all []setting
	text := func(flag, key, usage string, meaning func(string) (any, error)) {
		v := f.String(flag, "", usage)
		all = append(all, setting{flag, key, func() (any, error) { return meaning(*v) }})
	}
	number := func(flag, key, usage string) {
		v := f.Int(flag, 0, usage)
		all = append(all, setting{flag, key, func() (any, error) { return *v, nil }})
	}
	same := func(s string) (any, error) { return s, nil }
	text("title", "title", "title for people", same)
	text("description", "description", "plain text for people", same)
	text("opens", "opens_at", "when it opens, such as 2030-01-31T12:00:00Z; never = it is open already", moment)
	text("closes", "closes_at", "when it closes; never = it does not", moment)
	text("languages", "languages", "ids separated by commas; empty = all that a problem takes", func(s string) (any, error) {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }), nil
	})
	number("max-source-kib", "max_source_kib", "the largest program; 0 = as the problem says")
	number("max-waiting", "max_waiting", "submissions of a member that are not judged yet; 0 = any number")
	number("per-minute", "per_minute", "submissions of a member in a minute; 0 = any number")
	listed := f.Bool("listed", false, "everybody sees that it exists")
	all = append(all, setting{"listed", "listed", func() (any, error) { return *listed, nil }})
	return func() (client.SpaceChange, error) {
		out := client.SpaceChange{}
		var errs []error
		for _, s := range all {
			if !f.Given(s.flag) {
				continue
			}
			v, err := s.value()
			if err != nil {
				errs = append(errs, fmt.Errorf("--%s %w", s.flag, err))
			}
			out[s.key] = v
		}
		return out, errors.Join(errs...)
	}
}

// moment is a time, or nil for never.
func moment(s string) (any, error) {
	if s == "never" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return nil, fmt.Errorf("%s: want a time like 2030-01-31T12:00:00Z, or never", s)
	}
	return at, nil
}

// createSpace makes a space.
func createSpace(f *command.Flags) command.Run {
	settings := spaceFlags(f)
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		given, err := settings()
		if err != nil {
			return err
		}
		made, err := s.CreateSpace(ctx, c.Args[0], given)
		if err != nil {
			return err
		}
		return c.Say(made, "%s is made", made.Slug)
	})
}

// updateSpace changes the settings of a space.
func updateSpace(f *command.Flags) command.Run {
	settings := spaceFlags(f)
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		given, err := settings()
		if err != nil {
			return err
		}
		changed, err := s.UpdateSpace(ctx, c.Args[0], given)
		if err != nil {
			return err
		}
		return c.Say(changed, "%s is changed", changed.Slug)
	})
}

func deleteSpace(ctx context.Context, c *command.Call, s *client.Client) error {
	if err := s.DeleteSpace(ctx, c.Args[0]); err != nil {
		return err
	}
	return c.Say(map[string]string{"deleted": c.Args[0]}, "%s is deleted", c.Args[0])
}

func listSpaces(ctx context.Context, c *command.Call, s *client.Client) error {
	all := []client.Space{}
	for before := new(""); before != nil; {
		page, err := s.GetSpaces(ctx, client.GetSpacesParams{Before: *before, Limit: listPage})
		if err != nil {
			return err
		}
		all, before = append(all, page.Spaces...), page.Next
	}
	return c.Print(all, tableOfSpaces(all...))
}

func tableOfSpaces(spaces ...client.Space) command.Table {
	t := command.Table{Head: "SPACE\tPHASE\tOPENS\tCLOSES\tPROBLEMS\tMEMBERS\tYOU\tTITLE"}
	for _, s := range spaces {
		t.Add(s.Slug, s.Phase, s.Opens, s.Closes, s.Problems, s.Members, cmp.Or(s.Role, "-"), s.Title)
	}
	return t
}

// showSpace shows a space, and its problems if the caller may see them.
func showSpace(ctx context.Context, c *command.Call, s *client.Client) error {
	space, err := s.GetSpace(ctx, c.Args[0])
	if err != nil {
		return err
	}
	list, err := s.SpaceProblems(ctx, c.Args[0])
	refused, ok := errors.AsType[*client.Problem](err)
	hidden := ok && refused.Status == http.StatusForbidden // not yet, or not for the caller
	if err != nil && !hidden {
		return err
	}
	value, t := map[string]any{"space": space}, tableOfSpaces(space)
	if !hidden {
		value["problems"] = list
		problems := tableOfSpaceProblems(list)
		t.Add("")
		t.Add(problems.Head)
		t.Rows = append(t.Rows, problems.Rows...)
	}
	return c.Print(value, t)
}

func spaceScores(ctx context.Context, c *command.Call, s *client.Client) error {
	scores, err := s.SpaceScores(ctx, c.Args[0])
	if err != nil {
		return err
	}
	t := command.Table{Head: "RANK\tCONTESTANT\tSOLVED\tTRIED\tPOINTS"}
	for _, row := range scores {
		t.Add(row.Rank, row.Name, row.Solved, row.Tried, row.Points)
	}
	return c.Print(scores, t)
}

func listMembers(ctx context.Context, c *command.Call, s *client.Client) error {
	all := []client.SpaceMember{}
	t := command.Table{Head: "NAME\tROLE\tADDED"}
	for after := new(""); after != nil; {
		page, err := s.GetSpaceMembers(ctx, c.Args[0], client.GetSpaceMembersParams{After: *after})
		if err != nil {
			return err
		}
		for _, m := range page.Members {
			t.Add(m.Name, m.Role, m.Added)
		}
		all, after = append(all, page.Members...), page.Next
	}
	return c.Print(all, t)
}

// addMembers gives accounts a role in a space.
func addMembers(f *command.Flags) command.Run {
	role := f.String("role", "contestant", "contestant, setter or staff")
	f.OneOf("role", "contestant", "setter", "staff")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		space, names := c.Args[0], c.Args[1:]
		if err := s.PutSpaceMembers(ctx, space, *role, names...); err != nil {
			return err
		}
		return c.Say(map[string]any{"space": space, "role": *role, "members": names}, "%s: %s", *role, strings.Join(names, ", "))
	})
}

func removeMembers(ctx context.Context, c *command.Call, s *client.Client) error {
	space, names := c.Args[0], c.Args[1:]
	for _, name := range names {
		if err := s.DeleteSpaceMember(ctx, space, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return c.Say(map[string]any{"space": space, "removed": names}, "removed: %s", strings.Join(names, ", "))
}

func listSpaceProblems(ctx context.Context, c *command.Call, s *client.Client) error {
	list, err := s.SpaceProblems(ctx, c.Args[0])
	if err != nil {
		return err
	}
	return c.Print(list, tableOfSpaceProblems(list))
}

func tableOfSpaceProblems(list []client.SpaceProblem) command.Table {
	t := command.Table{Head: "LABEL\tPROBLEM\tPOINTS\tHIDDEN\tSOLVED BY\tYOU\tTITLE"}
	for _, p := range list {
		worth := "own"
		if p.Points != nil {
			worth = points(p.Points)
		}
		t.Add(p.Label, p.Slug, worth, p.Hidden, p.Solved, cmp.Or(string(p.Verdict), "-"), p.Title)
	}
	return t
}

// addSpaceProblem adds a problem to a space.
func addSpaceProblem(f *command.Flags) command.Run {
	place := f.Int("place", 0, "1 is A; 0 = where it is, or at the end")
	worth := f.Float64("points", -1, "points of a full solution; 1, or the problem's own score, when not given")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		if *worth < 0 {
			worth = nil
		}
		if err := s.PutSpaceProblem(ctx, c.Args[0], c.Args[1], *place, worth); err != nil {
			return err
		}
		return listSpaceProblems(ctx, c, s)
	})
}

func removeSpaceProblem(ctx context.Context, c *command.Call, s *client.Client) error {
	if err := s.DeleteSpaceProblem(ctx, c.Args[0], c.Args[1]); err != nil {
		return err
	}
	return c.Say(map[string]string{"space": c.Args[0], "removed": c.Args[1]}, "removed: %s", c.Args[1])
}
