package main

import (
	"context"
	"fmt"
	"time"

	"deepoj/host/command"
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
