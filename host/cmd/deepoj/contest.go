package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"deepoj/host/command"
	"deepoj/host/contest/clics"
	"deepoj/web/client"
)

// listContests lists the rounds that whoever asks may see, or those of a space.
func listContests(f *command.Flags) command.Run {
	space := f.String("space", "", "only those of this `space`")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		all := []client.Round{}
		for before := new(""); before != nil; {
			page, err := s.GetRounds(ctx, client.GetRoundsParams{Space: *space, Before: *before, Limit: listPage})
			if err != nil {
				return err
			}
			all, before = append(all, page.Rounds...), page.Next
		}
		return c.Print(all, tableOfRounds(all...))
	})
}

func tableOfRounds(rounds ...client.Round) command.Table {
	t := command.Table{Head: "ROUND\tSPACE\tPHASE\tBEGINS\tENDS\tFREEZES\tFINAL\tTITLE"}
	for _, r := range rounds {
		t.Add(r.Code, r.Space, r.Phase, r.Start, r.End, r.Frozen, r.Finalized, r.Title)
	}
	return t
}

func showContest(ctx context.Context, c *command.Call, s *client.Client) error {
	r, err := s.GetRound(ctx, c.Args[0])
	if err != nil {
		return err
	}
	return c.Print(r, tableOfRounds(r))
}

// roundAct is one of the acts of staff that say no more than which round is meant.
type roundAct func(s *client.Client, ctx context.Context, round string, options ...client.CallOption) (client.Round, error)

// actOnContest is a verb for such an act.
func actOnContest(done string, act roundAct) func(*command.Flags) command.Run {
	return onServer(func(ctx context.Context, c *command.Call, s *client.Client) error {
		r, err := act(s, ctx, c.Args[0])
		if err != nil {
			return err
		}
		return c.Say(r, "%s %s", r.Code, done)
	})
}

// extendContest has a round end later.
func extendContest(f *command.Flags) command.Run {
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		by, err := time.ParseDuration(c.Args[1])
		if err != nil {
			return fmt.Errorf("%s: want a length of time such as 30m or 1h15m", c.Args[1])
		}
		r, err := s.PostRoundExtend(ctx, c.Args[0], client.PostRoundExtendRequest{ByMs: by.Milliseconds()})
		if err != nil {
			return err
		}
		return c.Say(r, "%s ends %s later", r.Code, by)
	})
}

// exportContest writes the contest package of a round.
func exportContest(f *command.Flags) command.Run {
	out := f.String("o", "", "`file` to write; ROUND.zip when empty")
	release := f.String("release", string(clics.V202601), "release of the Contest API: 2026-01 or 2023-06")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		round := c.Args[0]
		name := cmp.Or(*out, filepath.Base(round)+".zip")
		files, err := s.ExportContest(ctx, *release, round)
		if err != nil {
			return fmt.Errorf("export %s: %w", round, err)
		}
		if err := writeWhole(name, clics.Package(files).Write); err != nil {
			return fmt.Errorf("export %s: %w", round, err)
		}
		return c.Say(map[string]any{"round": round, "file": name, "files": len(files)}, "exported %s to %s, %d files", round, name, len(files))
	})
}

// writeWhole writes a file, whole or not at all.
func writeWhole(name string, write func(io.Writer) error) (err error) {
	to, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	if err = errors.Join(write(to), to.Close()); err == nil {
		err = os.Rename(to.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(to.Name()))
	}
	return err
}

// checkContest says what is wrong with a contest package.
func checkContest(_ *command.Flags) command.Run {
	return func(_ context.Context, c *command.Call) error {
		in, err := os.Open(c.Args[0])
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		about, err := in.Stat()
		if err != nil {
			return err
		}
		p, err := clics.ReadPackage(in, about.Size())
		if err != nil {
			return fmt.Errorf("%s: %w", c.Args[0], err)
		}
		found := p.Check()
		if found == nil {
			found = []clics.Flaw{}
		}
		err = c.Write(map[string]any{"files": len(p), "findings": found}, func(w io.Writer) error {
			for _, f := range found {
				fmt.Fprintf(w, "%s  %s  %s\n", f.File, f.Object, f.Problem)
			}
			_, err := fmt.Fprintf(w, "%d files, %d findings\n", len(p), len(found))
			return err
		})
		if err == nil && len(found) > 0 {
			err = command.Exit(3)
		}
		return err
	}
}

// finalizeContest has the result of a round stand.
func finalizeContest(f *command.Flags) command.Run {
	b := f.Int("b", 0, "more bronze medals")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		r, err := s.PostRoundFinalize(ctx, c.Args[0], client.PostRoundFinalizeRequest{B: *b})
		if err != nil {
			return err
		}
		return c.Say(r, "the result of %s stands", c.Args[0])
	})
}
