package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/web/client"
)

// listSubmissions lists submissions of a server, newest first.
func listSubmissions(f *command.Flags) command.Run {
	var filter client.Filter
	f.StringVar(&filter.Problem, "problem", "", "only those to this problem")
	f.StringVar(&filter.Space, "space", "", "only those to this course or contest")
	f.StringVar(&filter.Author, "author", "", "only those of this user; for staff")
	f.StringVar(&filter.Language, "language", "", "only those in this language")
	f.StringVar((*string)(&filter.Verdict), "verdict", "", "only those with this verdict, such as WA")
	f.Int64Var(&filter.Before, "before", 0, "only those with a number below this")
	limit := f.Int64("limit", 20, "at most so many")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		if *limit < 1 {
			return errors.New("--limit must be 1 or more")
		}
		all := []client.Submission{}
		for int64(len(all)) < *limit {
			filter.Limit = min(*limit-int64(len(all)), listPage)
			page, next, err := s.List(ctx, filter)
			if err != nil {
				return err
			}
			all = append(all, page...)
			if next == 0 {
				break
			}
			filter.Before = next
		}
		t := command.Table{Head: "SUBMISSION\tVERDICT\tTIME\tMEMORY\tPROBLEM\tLANGUAGE\tAUTHOR\tMADE"}
		for _, x := range all {
			verdict, cpu, memory := strings.ToLower(x.Status), "-", "-"
			if r := x.Result; r != nil {
				verdict, cpu, memory = withPoints(r.Verdict, r.Score), judge.TimeText(r.Usage.CPU()), fmt.Sprint(r.Usage.MemoryKiB, " KiB")
			}
			t.Add(x.JobID, verdict, cpu, memory, x.Problem, x.Language, cmp.Or(x.Author, "-"), x.Created)
		}
		return c.Print(all, t)
	})
}

// showStatus says how jobs stand.
func showStatus(ctx context.Context, c *command.Call, s *client.Client) error {
	list, err := ids(c.Args)
	if err != nil {
		return err
	}
	var found []any
	status := 0
	for _, id := range list {
		state, err := stateOf(ctx, s, id)
		if err != nil {
			return fmt.Errorf("job %d: %w", id, err)
		}
		found = append(found, state.value)
		status = max(status, state.status)
		if !c.JSON {
			fmt.Fprintln(c.Out, state.line)
		}
	}
	if err := c.Print(found, command.Table{}); err != nil {
		return err
	}
	return exit(status)
}

// state is how a job stands.
type state struct {
	value  any    // a submission, or another job, as the API has it
	line   string // the same for people
	done   bool   // nothing more happens by itself
	status int    // of a command that answers with it
}

// stateOf asks how a job of any kind stands.
func stateOf(ctx context.Context, s *client.Client, id int64) (state, error) {
	x, err := s.Get(ctx, id)
	if refused, ok := errors.AsType[*client.Problem](err); ok && refused.Status == http.StatusNotFound {
		j, err := s.Job(ctx, id)
		if err != nil {
			return state{}, err
		}
		out := standing(j.Status, string(j.Kind), id, j.Place, j.Error)
		out.value, out.done = j, j.Done()
		if j.Result != nil {
			out.line, out.status = fmt.Sprintf("%s  %s %d  %s", j.Result.Verdict, j.Kind, id, j.Result.Message), statusOf(j.Result.Verdict)
		}
		return out, nil
	} else if err != nil {
		return state{}, err
	}
	out := standing(x.Status, "submission", id, x.Place, x.Error)
	out.value, out.done = x, x.Done()
	if x.Result != nil && out.done {
		out.line, out.status = verdictLine(x), statusOf(x.Result.Verdict)
	}
	return out, nil
}

// standing is how a job stands that has no result.
func standing(status, kind string, id int64, place *client.Place, why *string) state {
	out := state{line: fmt.Sprintf("%s  %s %d", status, kind, id), status: statusNotYet}
	if place != nil {
		out.line += fmt.Sprintf("  place %d", place.Position)
	}
	if why != nil {
		out.line += "  " + *why
	}
	if status == "CANCELLED" || status == "DEAD" {
		out.status = 1
	}
	return out
}

// statusOf is the status of a command whose answer is a verdict.
func statusOf(v judge.Verdict) int {
	if v == judge.AC {
		return 0
	}
	return statusOther
}

// watchJob tells of what happens to a job until it is done, and then how it ended.
func watchJob(f *command.Flags) command.Run {
	after := f.Int64("after", 0, "only events with a number above this")
	longest := timeoutFlag(f)
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		list, err := ids(c.Args)
		if err != nil {
			return err
		}
		id := list[0]
		now, err := stateOf(ctx, s, id)
		if err != nil {
			return fmt.Errorf("job %d: %w", id, err)
		}
		follow := s.Events
		if _, other := now.value.(*client.Job); other {
			follow = s.JobEvents
		}
		ctx, cancel := atMost(ctx, *longest)
		defer cancel()
		err = follow(ctx, id, *after, func(e judge.Event) error { return tellEvent(c, e) })
		switch {
		case errors.Is(err, errPatience):
			c.Warn("job %d is not done yet", id)
			return command.Exit(statusNotYet)
		case err != nil:
			return fmt.Errorf("job %d: %w", id, err)
		}
		if now, err = stateOf(ctx, s, id); err != nil {
			return fmt.Errorf("job %d: %w", id, err)
		}
		if c.JSON {
			err = json.NewEncoder(c.Out).Encode(now.value)
		} else {
			_, err = fmt.Fprintln(c.Out, now.line)
		}
		return errors.Join(err, exit(now.status))
	})
}

// tellEvent writes an event: as JSON it is a line of the answer, and for people it is on the way to one.
func tellEvent(c *command.Call, e judge.Event) error {
	if c.JSON {
		return json.NewEncoder(c.Out).Encode(e)
	}
	var d struct {
		Test    *judge.TestResult
		Total   int
		Verdict judge.Verdict
		Why     string
	}
	_ = json.Unmarshal(e.Data, &d) // what it says besides is left out where it cannot be read
	text := string(e.Kind)
	switch {
	case d.Test != nil:
		text = fmt.Sprintf("test %d: %s  %s", d.Test.Index, d.Test.Verdict, judge.TimeText(d.Test.Usage.CPU()))
		if d.Total > 0 {
			text = fmt.Sprintf("test %d of %d: %s  %s", d.Test.Index, d.Total, d.Test.Verdict, judge.TimeText(d.Test.Usage.CPU()))
		}
	case d.Verdict != "":
		text += ": " + string(d.Verdict)
	case d.Why != "":
		text += ": " + d.Why
	}
	_, err := fmt.Fprintf(c.Err, "%s  %s\n", e.At.Local().Format(time.TimeOnly), text)
	return err
}

// listProblems lists the problems of a server.
func listProblems(f *command.Flags) command.Run {
	var p client.GetProblemsParams
	f.StringVar(&p.Tag, "tag", "", "only those with this tag")
	f.Int64Var(&p.Easiest, "easiest", 0, "only those whose difficulty is at least this")
	f.Int64Var(&p.Hardest, "hardest", 0, "only those whose difficulty is at most this")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		p.Q, p.Limit = strings.Join(c.Args, " "), listPage
		all := []client.FoundProblem{}
		for after := new(""); after != nil; {
			p.After = *after
			page, err := s.GetProblems(ctx, p)
			if err != nil {
				return err
			}
			all, after = append(all, page.Problems...), page.Next
		}
		t := command.Table{Head: "PROBLEM\tTITLE\tDIFFICULTY\tSOLVED BY\tYOU\tTAGS"}
		for _, x := range all {
			difficulty, best := "-", "-"
			if x.Difficulty != 0 {
				difficulty = fmt.Sprint(x.Difficulty)
			}
			if x.Best != nil {
				best = withPoints(x.Best.Verdict, x.Best.Score)
			}
			title := x.Title
			if x.Hidden {
				title += " (hidden)"
			}
			t.Add(x.Slug, title, difficulty, x.Solved, best, x.Tags)
		}
		return c.Print(all, t)
	})
}
