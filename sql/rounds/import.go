package rounds

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Past is a contest as it was held elsewhere. What belongs together names each other by codes.
type Past struct {
	Round judge.Round // with its space and code
	Lineup
	Problems       []PastProblem
	Adjustments    []Adjustment          // what staff added to rows
	Logos          []PastLogo            // of organizations
	Awards         []judge.RoundAward    // that the jury gave
	Extras         []Extra               // that nothing depends on
	Clarifications []judge.Clarification // those that are answered behind what they answer
	Submissions    []PastSubmission      // by arrival

	// Log makes the lines of the log, in order, with the numbers that participants got, by code, and removed intervals, in
	// the order of the round's. Nil = there is none yet.
	Log func(participants map[string]int64, removed []int64) ([]PastLine, error) `json:"-"`
}

// PastLogo is a logo of an organization.
type PastLogo struct {
	judge.Logo

	Organization string // its code
	Data         []byte
}

// PastProblem is a problem of the contest.
type PastProblem struct {
	judge.RoundProblem

	// Make is the version to make, which nothing is known of but what the contest says; nil = there is one.
	Make *judge.Problem
}

// PastSubmission is what a participant handed in.
type PastSubmission struct {
	Number      int64  // in the round
	Participant string // its code
	Problem     string
	Language    string
	At          time.Time
	Sources     []judge.Source
	Judgings    []PastJudging // by generation
	Token       bool          // was spent on it
}

// PastJudging is how it was judged.
type PastJudging struct {
	Generation int // from 1
	Start, End time.Time
	Current    bool
	Result     judge.Result
}

// PastLine is a line of the log, and when it was written.
type PastLine struct {
	Line
	At time.Time
}

// ImportWorker is the worker of results that nobody judged here.
const ImportWorker = "import"

// Known are the live versions of problems, of those that are named, as far as there are any, by short name.
func (s *Store) Known(ctx context.Context, problems []string) (map[string]judge.Problem, error) {
	found, err := s.q.ImportKnown(ctx, s.db.Main, problems)
	if err != nil {
		return nil, fmt.Errorf("look up problems: %w", err)
	}
	out := map[string]judge.Problem{}
	for _, v := range found {
		var p judge.Problem
		if err := json.Unmarshal(v.Facts, &p); err != nil {
			return nil, fmt.Errorf("problem %s: %w", v.Slug, err)
		}
		p.Slug, p.Version, p.Hidden = v.Slug, v.Version, v.Hidden
		out[v.Slug] = p
	}
	return out, nil
}

// Import makes a round of a contest that was held elsewhere, all or nothing. An organization, a group or a participant that the
// space has has to be the same, else it is a [*judge.FieldError]. It returns ErrNotFound without the space, and ErrExists if the code is
// taken.
func (s *Store) Import(ctx context.Context, p Past, by string) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		space, err := s.q.SpaceHoldSlug(ctx, tx, p.Round.Space)
		if err != nil {
			return err
		}
		i := &importing{s: s, ctx: ctx, tx: tx, space: space, by: by, past: &p}
		for _, step := range []func() error{i.round, i.lineup, i.problems, i.enter, i.awards, i.extras, i.clarifications, i.submissions, i.log} {
			if err := step(); err != nil {
				return err
			}
		}
		detail := said(&p.Round)
		detail["participants"], detail["submissions"] = len(p.Participants), len(p.Submissions)
		return s.changed(ctx, tx, change{
			space: space, round: &i.id, kind: "round", object: p.Round.Code, act: "round_import", subject: "round:" + p.Round.Code, detail: detail, by: by,
		})
	})
	if err != nil {
		return refusal("import round "+p.Round.Code, err)
	}
	return nil
}

// importing is an import that is under way.
type importing struct {
	s     *Store
	ctx   context.Context
	tx    pgx.Tx
	space int64
	by    string
	past  *Past

	id      int64            // of the round
	people  map[string]int64 // participants by code
	removed []int64
}

func (i *importing) round() error {
	r := &i.past.Round
	made, err := i.s.q.RoundCreate(i.ctx, i.tx, dbsqlc.RoundCreateParams{
		Space: r.Space, Code: r.Code, Title: r.Title, FormalName: r.FormalName, Kind: string(r.Kind), Format: r.Format, Settings: settings(*r),
		StartsAt: r.Start, PausedMs: millis(r.Paused), DurationMs: millis(r.Duration), FreezeMs: millis(r.Freeze), ThawAt: r.Thaw,
		PublicRuns: r.PublicRuns, Practice: r.Practice, Speed: int32(max(r.Speed, 1)), CreatedBy: i.by,
	})
	if err != nil {
		return err
	}
	held, err := i.s.q.RoundHold(i.ctx, i.tx, r.Code)
	if err != nil {
		return err
	}
	i.id, r.ID, r.Now = made.ID, made.ID, held.Now
	if r.Finalized != nil {
		r.FinalizedBy = i.by
	}
	if err := i.s.update(i.ctx, i.tx, r, i.by); err != nil {
		return err
	}
	for _, d := range r.Removed {
		i.removed = append(i.removed, d.ID)
		if d.Undone == nil {
			continue
		}
		if err := i.s.q.RoundRemovedUndo(i.ctx, i.tx, dbsqlc.RoundRemovedUndoParams{UndoneAt: d.Undone, ID: d.ID, RoundID: i.id}); err != nil {
			return err
		}
	}
	return i.s.q.ImportRecorder(i.ctx, i.tx, i.id)
}

// fresh are those of some things that the space does not have; differs is one that it has and that is another.
func fresh[T any](given, there []T, code func(T) string, same func(a, b T) bool) (out []T, differs string) {
	known := map[string]T{}
	for _, v := range there {
		known[code(v)] = v
	}
	for _, v := range given {
		is, has := known[code(v)]
		switch {
		case !has:
			out = append(out, v)
		case !same(is, v):
			differs = cmp.Or(differs, code(v))
		}
	}
	return out, differs
}

func (i *importing) lineup() error {
	l := &i.past.Lineup
	organizations, err := i.s.q.ContestOrganizations(i.ctx, i.tx, i.space)
	if err != nil {
		return err
	}
	groups, err := i.s.q.ContestGroups(i.ctx, i.tx, i.space)
	if err != nil {
		return err
	}
	var there []judge.Participant
	const all = 1_000_000
	found, err := i.s.q.ParticipantList(i.ctx, i.tx, dbsqlc.ParticipantListParams{Space: i.past.Round.Space, Max: all})
	if err != nil {
		return err
	}
	for _, v := range found {
		there = append(there, participant(v))
	}
	newOrganizations, differs := fresh(l.Organizations, mapped(organizations, organization), func(o judge.Organization) string { return o.Code }, func(is, want judge.Organization) bool {
		is.ID = 0
		return is == want
	})
	if differs != "" {
		return judge.Wrong("package", "differs", "The space has another organization %q. Import into a space of its own, or make them the same.", differs)
	}
	newGroups, differs := fresh(l.Groups, mapped(groups, group), func(g judge.TeamGroup) string { return g.Code }, func(is, want judge.TeamGroup) bool {
		is.ID = 0
		return is == want
	})
	if differs != "" {
		return judge.Wrong("package", "differs", "The space has another group %q. Import into a space of its own, or make them the same.", differs)
	}
	people, differs := fresh(l.Participants, there, func(p judge.Participant) string { return p.Code }, func(is, want judge.Participant) bool {
		alike := slices.Equal(is.Groups, want.Groups)
		is.ID, is.Members, want.Members, is.Reason, is.Groups, want.Groups = 0, nil, nil, want.Reason, nil, nil
		return alike && reflect.DeepEqual(is, want)
	})
	if differs != "" {
		return judge.Wrong("package", "differs", "The space has another participant %q. Import into a space of its own, or make them the same.", differs)
	}
	if err := i.s.writeOrganizations(i.ctx, i.tx, i.space, newOrganizations); err != nil {
		return err
	}
	for _, v := range i.past.Logos { // also of an organization that the space has
		if _, err := i.s.putLogo(i.ctx, i.tx, i.space, v.Organization, v.Logo, v.Data); err != nil {
			return fmt.Errorf("logo %s of %s: %w", v.Name, v.Organization, err)
		}
	}
	if err := i.s.writeGroups(i.ctx, i.tx, i.space, newGroups); err != nil {
		return err
	}
	if len(people) == 0 {
		return nil
	}
	if err := i.s.checkParticipants(i.ctx, i.tx, i.space, people, codes(people, func(p judge.Participant) string { return p.Code })); err != nil {
		return err
	}
	return i.s.writeParticipants(i.ctx, i.tx, i.space, people)
}

func mapped[A, B any](all []A, to func(A) B) []B {
	out := make([]B, len(all))
	for i, v := range all {
		out[i] = to(v)
	}
	return out
}

// problems makes the versions that are to be made, hidden where nothing was there by that name, and has the round take all.
func (i *importing) problems() error {
	var list []judge.RoundProblem
	for _, p := range i.past.Problems {
		list = append(list, p.RoundProblem)
		if p.Make == nil {
			continue
		}
		known, err := i.s.q.ImportKnown(i.ctx, i.tx, []string{p.Problem})
		if err != nil {
			return err
		}
		view, err := pg.Encode(p.Make)
		if err != nil {
			return err
		}
		if len(known) > 0 {
			err = i.s.q.VersionKeep(i.ctx, i.tx, dbsqlc.VersionKeepParams{Slug: p.Problem, Version: p.Make.Version, Title: p.Make.Title, Problem: view, CreatedBy: i.by})
		} else {
			err = errors.Join(
				i.s.q.OwnerClaim(i.ctx, i.tx, dbsqlc.OwnerClaimParams{Slug: p.Problem, Name: i.by}),
				i.s.q.ProblemSave(i.ctx, i.tx, dbsqlc.ProblemSaveParams{Slug: p.Problem, Version: p.Make.Version, Title: p.Make.Title, Problem: view, CreatedBy: i.by}))
			if err == nil {
				_, err = i.s.q.ProblemHide(i.ctx, i.tx, dbsqlc.ProblemHideParams{Slug: p.Problem, Hidden: true, By: i.by})
			}
		}
		if err != nil {
			return fmt.Errorf("problem %s: %w", p.Problem, err)
		}
	}
	return i.s.setProblems(i.ctx, i.tx, i.id, list)
}

func (i *importing) enter() error {
	names := codes(i.past.Participants, func(p judge.Participant) string { return p.Code })
	if _, err := i.s.q.EntryAdd(i.ctx, i.tx, dbsqlc.EntryAddParams{RoundID: i.id, Codes: names}); err != nil {
		return err
	}
	found, err := i.s.q.ContestParticipants(i.ctx, i.tx, i.id)
	i.people = map[string]int64{}
	for _, v := range found {
		i.people[v.Code] = v.ID
	}
	for _, a := range i.past.Adjustments {
		if err == nil {
			a.By = i.by
			err = i.s.putAdjustment(i.ctx, i.tx, i.id, a)
		}
	}
	return err
}

// participant is the number of a participant by its code.
func (i *importing) participant(code string) (int64, error) {
	id, ok := i.people[code]
	if !ok {
		return 0, judge.Wrong("package", "unknown", "%q is no participant of the contest.", code)
	}
	return id, nil
}

func (i *importing) awards() error {
	for _, a := range i.past.Awards {
		if err := i.s.putAward(i.ctx, i.tx, i.id, a, i.by); err != nil {
			return err
		}
	}
	return nil
}

func (i *importing) extras() error {
	if len(i.past.Extras) == 0 {
		return nil
	}
	return i.s.putExtras(i.ctx, i.tx, i.id, i.past.Extras, i.by)
}

func (i *importing) clarifications() error {
	ids := map[string]int64{}
	answered := map[string]bool{}
	for _, c := range i.past.Clarifications {
		answered[c.ReplyTo] = true
	}
	for _, c := range i.past.Clarifications {
		row := dbsqlc.ImportClarificationParams{
			RoundID: i.id, SpaceID: i.space, Code: c.Code, ToParticipants: []int64{}, Groups: append([]string{}, c.Groups...), Text: c.Text, By: i.by, At: c.At,
		}
		if c.From != "" {
			id, err := i.participant(c.From)
			if err != nil {
				return err
			}
			row.ParticipantID = &id
			if i.past.Round.Finalized != nil && !answered[c.Code] {
				row.ClosedAt = i.past.Round.Finalized // nobody waits any more
			}
		}
		for _, team := range c.Teams {
			id, err := i.participant(team)
			if err != nil {
				return err
			}
			row.ToParticipants = append(row.ToParticipants, id)
		}
		slices.Sort(row.ToParticipants)
		if c.ReplyTo != "" {
			id, ok := ids[c.ReplyTo]
			if !ok {
				return judge.Wrong("package", "unknown", "Clarification %s answers %q, which is not before it.", c.Code, c.ReplyTo)
			}
			row.ReplyTo = &id
		}
		if c.Problem != "" {
			row.Problem = &c.Problem
		}
		id, err := i.s.q.ImportClarification(i.ctx, i.tx, row)
		if err != nil {
			return fmt.Errorf("clarification %s: %w", c.Code, err)
		}
		ids[c.Code] = id
	}
	return nil
}
