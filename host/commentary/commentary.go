// Package commentary comments on rounds as they go on: who takes the lead, who gets a medal, and when one of these is at stake.
//
// It reads the logs of rounds as everybody does, and so cannot say what not everybody is told. What it says it says once,
// however often it reads a log and however many do so: a comment is named after what was handed in.
package commentary

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/contest"
	"deepoj/sql/rounds"
)

// Store is where logs are read, and what is said is written; a [*rounds.Store] does it.
type Store interface {
	Going(ctx context.Context, format string) ([]int64, error)
	Follow(ctx context.Context, fn func(round int64)) error
	Read(ctx context.Context, round int64, r rounds.Reader, after int64, limit int) ([]rounds.Logged, error)
	Remark(ctx context.Context, round int64, comments []rounds.Extra) error
}

// Commentator comments on rounds. Several may run at once.
type Commentator struct {
	store Store
	log   *slog.Logger
	heard chan int64
	kept  map[int64]*round
}

// round is what is known of a round that goes on.
type round struct {
	seq      int64
	data     contest.RoundData
	config   contest.Config
	remarks  *contest.Remarks
	names    map[int64]contest.ParticipantData
	problems map[string]contest.ProblemData
}

const (
	pageLines = 10_000
	patience  = 30 * time.Second // for one look at the database
	again     = 5 * time.Second  // after which what failed is tried again
	maxHeard  = 256
)

// New returns a commentator that is not running.
func New(store Store, log *slog.Logger) *Commentator {
	return &Commentator{store: store, log: log, heard: make(chan int64, maxHeard), kept: map[int64]*round{}}
}

// Run comments until ctx ends, then returns nil. What it cannot say now it says later.
func (c *Commentator) Run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() {
		ended <- c.store.Follow(ctx, func(id int64) {
			select {
			case c.heard <- id:
			default: // all rounds are looked at soon, anyway
			}
		})
	}()
	all := time.NewTicker(again)
	defer all.Stop()
	c.Look(ctx)
	for {
		select {
		case err := <-ended:
			return err
		case id := <-c.heard:
			if c.kept[id] != nil {
				c.look(ctx, id)
			}
		case <-all.C:
			c.Look(ctx)
		}
	}
}

// Look comments on all rounds that go on, and forgets others.
func (c *Commentator) Look(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	going, err := c.store.Going(within, string(contest.ICPC))
	if err != nil {
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "rounds cannot be commented on; they will be", slog.Any("err", err))
		}
		return
	}
	maps.DeleteFunc(c.kept, func(id int64, _ *round) bool { return !slices.Contains(going, id) })
	for _, id := range going {
		c.look(ctx, id)
	}
}

// look comments on what a round's log got since. Of a round that is not known yet it reads everything.
func (c *Commentator) look(ctx context.Context, id int64) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := c.kept[id]
	if r == nil {
		r = newRound()
		c.kept[id] = r
	}
	said, err := r.read(within, c.store, id)
	if err == nil && len(said) > 0 {
		err = c.store.Remark(within, id, said)
	}
	if err != nil {
		delete(c.kept, id) // it may be half read, and is read again
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "a round cannot be commented on; it will be", slog.String("round", r.data.Code), slog.Any("err", err))
		}
	}
}

func newRound() *round {
	cfg, _ := contest.ParseConfig(contest.ICPC, nil) // until the log says how it is scored
	return &round{
		config: cfg, remarks: contest.NewRemarks(contest.New(cfg)), names: map[int64]contest.ParticipantData{}, problems: map[string]contest.ProblemData{},
	}
}

// read reads on, and returns what is to be said.
func (r *round) read(ctx context.Context, store Store, id int64) (said []rounds.Extra, err error) {
	judged := map[int64]bool{} // what is judged already: nothing is at stake any more
	var news []*comment
	for more := true; more; {
		lines, err := store.Read(ctx, id, rounds.Reader{Audience: uint8(contest.Public)}, r.seq, pageLines)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			r.seq = l.Seq
			some, err := r.take(l)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", l.Seq, err)
			}
			news = append(news, some...)
			if contest.Kind(l.Kind) == contest.KindJudgement {
				number, _, _ := strings.Cut(l.Object.Object, "-")
				n, _ := strconv.ParseInt(number, 10, 64)
				judged[n] = true
			}
		}
		more = len(lines) == pageLines
	}
	for _, one := range news {
		if one.Accepted || !judged[one.Submission.ID] {
			said = append(said, r.extra(one))
		}
	}
	return said, nil
}

// comment is a remark and when it is made.
type comment struct {
	*contest.Remark
	at time.Time
}

// take takes in a line, and returns what is worth saying.
func (r *round) take(l rounds.Logged) (said []*comment, err error) {
	if err := r.note(l); err != nil {
		return nil, err
	}
	entries, err := contest.Read(contest.Kind(l.Kind), l.Object.Object, l.Data)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		remark, err := r.remarks.Apply(e)
		if err != nil {
			return nil, err
		}
		if remark != nil && r.talks() {
			said = append(said, &comment{remark, l.At})
		}
	}
	return said, nil
}

// talks reports whether the round is commented on: as long as it goes on and nothing is hidden.
func (r *round) talks() bool {
	return r.config.ICPC.Commentary && r.data.Started != nil && r.data.Frozen == nil && r.data.Ended == nil
}

// note keeps what standings do not count.
func (r *round) note(l rounds.Logged) error {
	//exhaustive:ignore
	switch contest.Kind(l.Kind) {
	case contest.KindRound:
		r.data = contest.RoundData{}
		if err := json.Unmarshal(l.Data, &r.data); err != nil {
			return err
		}
		cfg, err := contest.ParseConfig(contest.Format(r.data.Format), r.data.Settings)
		if err == nil {
			r.config = cfg
			r.remarks.Rescore(cfg)
		}
		return err
	case contest.KindParticipant:
		id, err := strconv.ParseInt(l.Object.Object, 10, 64)
		if err != nil {
			return err
		}
		return rounds.Keep(r.names, id, l)
	case contest.KindProblem:
		return rounds.Keep(r.problems, l.Object.Object, l)
	}
	return nil
}

// extra is what is said as the log has it.
func (r *round) extra(c *comment) rounds.Extra {
	team := r.names[c.Submission.Participant]
	d := contest.CommentaryData{
		Time: c.at.UTC().Truncate(time.Millisecond), Message: r.message(c), Tags: c.Tags, Participants: []string{team.Code}, Problems: []string{c.Submission.Problem},
		Submissions: []int64{c.Submission.ID},
	}
	data, _ := json.Marshal(d) // nothing in it cannot be written
	code := "at-stake-"
	if c.Accepted {
		code = "accepted-"
	}
	return rounds.Extra{Kind: string(contest.KindCommentary), Code: code + strconv.FormatInt(c.Submission.ID, 10), Data: data}
}

var medals = map[string]string{"gold-medal": "a gold medal", "silver-medal": "a silver medal", "bronze-medal": "a bronze medal"}

// plain is text without what a message of the Contest API means something by.
var plain = strings.NewReplacer(`\`, `\\`, "{", `\{`)

// message says it in words.
func (r *round) message(c *comment) string {
	who, what := r.names[c.Submission.Participant], r.problems[c.Submission.Problem]
	name := who.Name
	if who.DisplayName != "" {
		name = who.DisplayName
	}
	name, problem := plain.Replace(name), plain.Replace(strings.TrimSpace(what.Label+" "+what.Name))
	becomes := "is in the place of " + medals[c.Medal]
	switch {
	case !c.Leads && c.Medal == "":
		becomes = "changes who has medals"
	case c.Leads && c.Shares:
		becomes = "shares the lead"
	case c.Leads:
		becomes = "takes the lead"
	}
	solved := strconv.Itoa(c.Solved) + " problems"
	if c.Solved == 1 {
		solved = "1 problem"
	}
	if !c.Accepted {
		return fmt.Sprintf("%s hands in a program for %s. If it is accepted, %s %s.", name, problem, name, becomes)
	}
	return fmt.Sprintf("%s solves %s and %s with %s.", name, problem, becomes, solved)
}
