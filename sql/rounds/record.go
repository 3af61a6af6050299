package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// ChannelLog tells that the log of a round, whose id is the payload, has grown: see [pg.ChannelRounds].
const ChannelLog = pg.ChannelRounds

// Fed says what a look at what happened found.
type Fed struct {
	More     bool // there is more to look at
	Noted    int  // rounds and submissions of which something is due
	Restored bool // the database was restored elsewhere: everything is due
}

// FeedJobs notes submissions that something happened to, from at most limit events behind those that were looked at before.
// [Store.FeedChanges] does so with what was changed in rounds. What a change is needed for comes after it: so whoever records
// feeds jobs first, and then all changes.
func (s *Store) FeedJobs(ctx context.Context, limit int) (Fed, error) {
	return s.feed(ctx, "ContestFeedJobs", limit)
}

// FeedChanges is FeedJobs of what was changed in rounds: see there.
func (s *Store) FeedChanges(ctx context.Context, limit int) (Fed, error) {
	return s.feed(ctx, "ContestFeedChanges", limit)
}

func (s *Store) feed(ctx context.Context, statement string, limit int) (Fed, error) {
	fed, _, err := pg.Row(ctx, s.db, s.db.Main, statement, pg.Args{"max": limit}, func(c pgx.CollectableRow) (f Fed, err error) {
		return f, c.Scan(&f.More, &f.Noted, &f.Restored)
	})
	if err != nil {
		return Fed{}, fmt.Errorf("look for what happened in rounds: %w", err)
	}
	return fed, nil
}

// LookAtAll has everything of every round that may still change looked at.
func (s *Store) LookAtAll(ctx context.Context) error {
	if err := s.q.ContestWhole(ctx, s.db.Main); err != nil {
		return fmt.Errorf("have all rounds looked at: %w", err)
	}
	return nil
}

// Timed reports whether a round that has an end goes on, so that seconds matter.
func (s *Store) Timed(ctx context.Context) (bool, error) {
	timed, err := s.q.ContestTimed(ctx, s.db.Main)
	if err != nil {
		return false, fmt.Errorf("look for rounds that go on: %w", err)
	}
	return timed, nil
}

// Handed is what a participant has handed in to a round, with the judging that counts.
type Handed struct {
	JobID       int64
	Number      int64 // in its round; 0 = it has none yet
	Participant int64
	Code        string // of the participant
	Hidden      bool   // so is the participant
	Ignored     bool   // by staff
	Token       bool   // was spent on it
	Problem     string
	Language    string
	At          time.Time
	Generation  int // of the judging; 0 = there is none
	Verdict     judge.Verdict
	Score       *float64
	Groups      json.RawMessage // of tests: a list of names and scores
	Tests       json.RawMessage // in their order: a list of verdicts with their times
	Start, End  time.Time       // of the judging
	CPU         int64           // of the worst test, in microseconds
}

// Asked is a problem of a round, and what the version says that is judged.
type Asked struct {
	judge.RoundProblem
	Is judge.Problem
}

// Object is something that the log tells of, and whom.
type Object struct {
	Kind, Object string
	Submission   int64 // the number of the one it is about; 0 = none
	Data         []byte
	Audience     uint8 // the bits of the log's audiences
	Only         int64 // the participant whom the bit for one alone means; 0 = none
}

// Seen is what is known of a round when its log is written on.
type Seen struct {
	Round          *judge.Round
	Whole          bool // everything is here, and not only some submissions and what was told of them
	Problems       []Asked
	Organizations  []judge.Organization
	Logos          map[string][]judge.Logo // of organizations
	Groups         []judge.TeamGroup
	Participants   []judge.Participant
	Adjusted       map[int64]Adjustment // what staff add, by participant
	Handed         []Handed             // by arrival
	Awards         []judge.RoundAward   // that the jury gives
	Extras         []Extra              // that nothing depends on
	Members        []Member             // who hands in
	Clarifications []Clarified
	Told           []Object // what was told last
	Shown          int64    // the last number of a submission that everybody is told of
	Unshown        int64    // the last number of one that only the jury is told of
}

// Member is somebody who hands in as a participant.
type Member struct {
	Participant       int64
	Name, DisplayName string
}

// Line is one of a log, without its numbers. No data means that the thing is told of no more.
type Line struct {
	Object
	Gone bool
}

// Written is what is added to a log.
type Written struct {
	Lines          []Line
	Keep           []Object        // what was told last, from now on
	Drop           []Object        // what is told of nobody any more
	Numbers        map[int64]int64 // of submissions that had none, by job
	Shown, Unshown int64           // see Seen
	Wake           time.Time       // when time alone will change something; zero = never
	Thaw           bool            // the time to show what was hidden has come
}

// Recorded says what was done to a log.
type Recorded struct {
	Round int64 // 0 = nothing was due, or somebody else does it
	Code  string
	Seq   int64 // the last number of the log
	Lines int
}

// public and teams are the audiences whose lines have numbers of their own, own is that of one participant alone.
const public, teams, own = 1, 2, 4

// everybody are all audiences but that of one participant alone.
const everybody = 1 | 2 | 8 | 16

// Record writes the log of one round on of which something is due, but for some: what it gets from plan, in one
// transaction, which nobody else does at the same time. Whatever ends it before, nothing is written and everything is still
// due; with an error comes the round that it is of, if it is of one.
func (s *Store) Record(ctx context.Context, except []int64, plan func(Seen) (Written, error)) (Recorded, error) {
	var out Recorded
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		c, err := s.q.ContestPick(ctx, tx, except)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		out.Round, out.Code = c.RoundID, c.Code
		seen, err := s.see(ctx, tx, c)
		if err != nil {
			return err
		}
		w, err := plan(*seen)
		if err != nil {
			return err
		}
		out = Recorded{Round: c.RoundID, Code: c.Code, Seq: c.Seq + int64(len(w.Lines)), Lines: len(w.Lines)}
		return s.write(ctx, tx, c, seen.Round.Now, w)
	})
	if err != nil {
		return Recorded{Round: out.Round, Code: out.Code}, fmt.Errorf("write the log of round %s: %w", out.Code, err)
	}
	if out.Lines > 0 {
		s.db.Wake(pg.ChannelRounds, strconv.FormatInt(out.Round, 10))
	}
	return out, nil
}

// see reads what is due of a round, and what has been told of that.
func (s *Store) see(ctx context.Context, tx pgx.Tx, c dbsqlc.ContestPickRow) (*Seen, error) {
	due, err := s.q.ContestTake(ctx, tx, c.RoundID)
	if err != nil {
		return nil, err
	}
	v, err := s.q.RoundGet(ctx, tx, c.Code)
	if err != nil {
		return nil, err
	}
	held := []judge.Round{round(v)}
	if err := s.remove(ctx, tx, held); err != nil {
		return nil, err
	}
	// Without anything due it is time that changed something, and it may be besides.
	seen := &Seen{Round: &held[0], Whole: c.Woken || len(due) == 0 || slices.Contains(due, 0), Shown: c.Shown, Unshown: c.Unshown}
	found, err := s.q.ContestSubmissions(ctx, tx, dbsqlc.ContestSubmissionsParams{RoundID: c.RoundID, Everything: seen.Whole, JobIds: due})
	if err != nil {
		return nil, err
	}
	numbers := []int64{}
	for _, v := range found {
		h := Handed{
			JobID: v.JobID, Number: v.Number, Participant: v.ParticipantID, Code: v.Participant, Hidden: v.Hidden, Ignored: v.Ignored, Token: v.Token, Problem: v.Problem,
			Language: v.Language, At: v.CreatedAt, Generation: int(v.Generation), Verdict: judge.Verdict(v.Verdict), Score: v.Score, Groups: v.Groups, Tests: v.Tests, CPU: v.CpuUs,
		}
		if v.StartedAt != nil && v.JudgedAt != nil {
			h.Start, h.End = *v.StartedAt, *v.JudgedAt
		}
		seen.Handed = append(seen.Handed, h)
		numbers = append(numbers, v.Number)
	}
	told, err := s.q.ContestObjects(ctx, tx, dbsqlc.ContestObjectsParams{RoundID: c.RoundID, Everything: seen.Whole, Submissions: numbers})
	if err != nil {
		return nil, err
	}
	for _, v := range told {
		seen.Told = append(seen.Told, Object{v.Kind, v.Object, zero(v.Submission), v.Data, uint8(v.Audience), zero(v.OnlyParticipant)})
	}
	if !seen.Whole {
		return seen, nil
	}
	if err := s.seeClarifications(ctx, tx, seen); err != nil {
		return nil, err
	}
	if seen.Awards, err = s.awards(ctx, tx, c.RoundID); err != nil {
		return nil, err
	}
	if err := s.seeExtras(ctx, tx, seen); err != nil {
		return nil, err
	}
	return seen, s.seePeople(ctx, tx, seen)
}

// seePeople reads the problems of a round, and who takes part.
func (s *Store) seePeople(ctx context.Context, tx pgx.Tx, seen *Seen) error {
	problems, err := s.q.ContestProblems(ctx, tx, seen.Round.ID)
	if err != nil {
		return err
	}
	for _, p := range problems {
		asked := Asked{RoundProblem: judge.RoundProblem{Problem: p.Problem, Title: p.Title, Label: p.Label, Points: p.Points, RGB: p.Rgb, Color: p.Color}}
		if err := json.Unmarshal(p.Facts, &asked.Is); err != nil {
			return fmt.Errorf("problem %s: %w", p.Problem, err)
		}
		seen.Problems = append(seen.Problems, asked)
	}
	organizations, err := s.q.ContestOrganizations(ctx, tx, seen.Round.SpaceID)
	if err != nil {
		return err
	}
	for _, o := range organizations {
		seen.Organizations = append(seen.Organizations, organization(o))
	}
	if seen.Logos, err = s.logos(ctx, tx, seen.Round.SpaceID); err != nil {
		return err
	}
	groups, err := s.q.ContestGroups(ctx, tx, seen.Round.SpaceID)
	if err != nil {
		return err
	}
	for _, g := range groups {
		seen.Groups = append(seen.Groups, group(g))
	}
	if seen.Adjusted, err = s.adjusted(ctx, tx, seen.Round.ID); err != nil {
		return err
	}
	participants, err := s.q.ContestParticipants(ctx, tx, seen.Round.ID)
	for _, p := range participants {
		seen.Participants = append(seen.Participants, judge.Participant{
			ID: p.ID, Code: p.Code, ICPCID: p.IcpcID, Label: p.Label, Name: p.Name, DisplayName: p.DisplayName, Organization: p.Organization,
			Groups: p.Groups, Room: p.Room, Ranked: p.Ranked, Hidden: p.Hidden, Status: judge.ParticipantStatus(p.Status), Reason: p.Reason,
		})
	}
	return err
}

// write gives the lines their numbers, and keeps what was told last.
func (s *Store) write(ctx context.Context, tx pgx.Tx, c dbsqlc.ContestPickRow, at time.Time, w Written) error {
	if w.Thaw {
		if err := s.q.RoundThaw(ctx, tx, dbsqlc.RoundThawParams{At: at, ID: c.RoundID}); err != nil {
			return err
		}
	}
	lines := make([]PastLine, len(w.Lines))
	for i, l := range w.Lines {
		lines[i] = PastLine{l, at}
	}
	if err := s.number(ctx, tx, &c, lines); err != nil {
		return err
	}
	n := dbsqlc.ContestNumberParams{RoundID: c.RoundID}
	for job, number := range w.Numbers {
		n.JobIds, n.Numbers = append(n.JobIds, job), append(n.Numbers, number)
	}
	if len(n.JobIds) > 0 {
		if err := s.q.ContestNumber(ctx, tx, n); err != nil {
			return err
		}
	}
	if len(w.Keep) > 0 {
		if err := s.keep(ctx, tx, c.RoundID, w.Keep); err != nil {
			return err
		}
	}
	if len(w.Drop) > 0 {
		drop := dbsqlc.ContestObjectGoneParams{RoundID: c.RoundID}
		for _, o := range w.Drop {
			drop.Kinds, drop.Objects = append(drop.Kinds, o.Kind), append(drop.Objects, o.Object)
		}
		if err := s.q.ContestObjectGone(ctx, tx, drop); err != nil {
			return err
		}
	}
	moved := dbsqlc.ContestMovedParams{RoundID: c.RoundID, Seq: c.Seq, PublicSeq: c.PublicSeq, TeamsSeq: c.TeamsSeq, Shown: w.Shown, Unshown: w.Unshown}
	if !w.Wake.IsZero() {
		moved.WakeAt = &w.Wake
	}
	return s.q.ContestMoved(ctx, tx, moved)
}

// keep notes what was told last of some things.
func (s *Store) keep(ctx context.Context, tx pgx.Tx, round int64, all []Object) error {
	keep := dbsqlc.ContestObjectPutParams{RoundID: round}
	for _, o := range all {
		keep.Kinds, keep.Objects = append(keep.Kinds, o.Kind), append(keep.Objects, o.Object)
		keep.Submissions, keep.Data = append(keep.Submissions, o.Submission), append(keep.Data, string(o.Data))
		keep.Audiences, keep.Participants = append(keep.Audiences, int16(o.Audience)), append(keep.Participants, o.Only)
	}
	return s.q.ContestObjectPut(ctx, tx, keep)
}

// number writes lines with the numbers behind those of c, which it moves on.
func (s *Store) number(ctx context.Context, tx pgx.Tx, c *dbsqlc.ContestPickRow, lines []PastLine) error {
	if len(lines) == 0 {
		return nil
	}
	alone := map[int64]int64{}
	for _, l := range lines {
		if l.Audience&own != 0 && l.Audience&teams == 0 {
			alone[l.Only] = 0
		}
	}
	if len(alone) > 0 {
		ids := make([]int64, 0, len(alone))
		for id := range alone {
			ids = append(ids, id)
		}
		last, err := s.q.ContestOwn(ctx, tx, dbsqlc.ContestOwnParams{RoundID: c.RoundID, Participants: ids})
		if err != nil {
			return err
		}
		for _, v := range last {
			alone[v.Participant] = v.OwnSeq
		}
	}
	rows := make([]dbsqlc.ContestLogAddParams, len(lines))
	for i, l := range lines {
		c.Seq++
		r := dbsqlc.ContestLogAddParams{RoundID: c.RoundID, Seq: c.Seq, At: l.At, Kind: l.Kind, Object: l.Object.Object, Audience: int16(l.Audience)}
		if !l.Gone {
			r.Data = l.Data
		}
		if l.Audience&own != 0 {
			r.OnlyParticipant = new(l.Only)
		}
		if l.Audience&public != 0 {
			c.PublicSeq++
			r.PublicSeq = new(c.PublicSeq)
		}
		switch {
		case l.Audience&teams != 0:
			c.TeamsSeq++
			r.TeamsSeq = new(c.TeamsSeq)
		case l.Audience&own != 0:
			alone[l.Only]++
			r.OwnSeq = new(alone[l.Only])
		}
		rows[i] = r
	}
	_, err := s.q.ContestLogAdd(ctx, tx, rows)
	return err
}

func zero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
