package standings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"deepoj/host/contest"
	"deepoj/sql/rounds"
)

// Standings are those of a round for one kind of viewers.
type Standings struct {
	// Token tells how much of the log they are of: the same one means the same standings. It says nothing of what the
	// viewers do not know.
	Token string
	Lines int64 // of the log, as far as the viewers know it

	View          View                                // for whom they are
	Told          time.Time                           // when the last line that the viewers know was written
	Round         contest.RoundData                   // how far it is
	Config        contest.Config                      // how it is scored
	State         *contest.State                      //
	Participants  map[int64]contest.ParticipantData   // whom there are rows of
	Organizations map[string]contest.OrganizationData // by code
	Groups        map[string]contest.GroupData        // by code
	Problems      map[string]contest.ProblemData      // by short name
	Persons       map[string]contest.PersonData       // by short name
	Aside         contest.Aside                       // what only whoever handed in is told of

	changed map[int64]int64 // by participant, the count of lines since which its row is what it is
	anew    int64           // likewise of all rows
}

// Hidden reports whether the settings of the format keep the board from everybody but staff while the round goes on.
func (s *Standings) Hidden() bool {
	return s.Config.Closed() && s.Round.Ended == nil
}

// Same reports whether the row of a participant says, but for its rank, what it said when there were so many lines. Not every row
// that does is known as such.
func (s *Standings) Same(participant, lines int64) bool {
	return s.anew <= lines && s.changed[participant] <= lines
}

// Behind returns at which place of the board, or of that of a group, the rows behind a participant begin, by its short
// name. It is false where there is no such row.
func (s *Standings) Behind(group, participant string) (int, bool) {
	for i, id := range s.State.Order(group) {
		if s.Participants[id].Code == participant {
			return i + 1, true
		}
	}
	return 0, false
}

// view is what is known to one kind of viewers.
type view struct {
	Standings

	name   View
	viewer contest.Viewer
}

func newView(name View, v contest.Viewer) *view {
	cfg, _ := contest.ParseConfig(contest.ICPC, nil) // until the log says how it is scored
	return &view{name: name, viewer: v, Standings: Standings{
		Token: token(name, 0), View: name, Config: cfg, State: contest.New(cfg), Participants: map[int64]contest.ParticipantData{},
		Organizations: map[string]contest.OrganizationData{}, Groups: map[string]contest.GroupData{},
		Problems: map[string]contest.ProblemData{}, Persons: map[string]contest.PersonData{}, Aside: contest.Aside{}, changed: map[int64]int64{},
	}}
}

// token names how much of a view's log is known.
func token(name View, lines int64) string { return string(name[0]) + strconv.FormatInt(lines, 10) }

// take takes in lines of the log, as far as the viewers see them.
func (v *view) take(lines []rounds.Logged) error {
	var entries []contest.Entry
	scored := false
	for _, l := range lines {
		if !v.viewer.Sees(contest.Record{Audience: contest.Audience(l.Audience), Only: l.Only}) {
			if err := v.aside(l); err != nil {
				return err
			}
			continue
		}
		v.Lines++
		v.Told = l.At
		changed, err := v.note(l)
		if err != nil {
			return fmt.Errorf("line %d: %w", l.Seq, err)
		}
		scored = scored || changed
		some, err := contest.Read(contest.Kind(l.Kind), l.Object.Object, l.Data)
		if err != nil {
			return fmt.Errorf("line %d: %w", l.Seq, err)
		}
		for _, e := range some {
			v.Aside.Told(e)
		}
		entries = append(entries, some...)
	}
	v.Token = token(v.name, v.Lines)
	if scored {
		v.State.Rescore(v.Config)
	}
	if len(entries) > few {
		change, err := v.State.Together(entries...)
		v.mark(change)
		return err
	}
	for _, e := range entries {
		change, err := v.State.Apply(e)
		if err != nil {
			return err
		}
		v.mark(change)
	}
	return nil
}

// mark keeps since when rows are what they are.
func (v *view) mark(c contest.Change) {
	switch {
	case c.All:
		v.anew = v.Lines
	case c.Participant != 0:
		v.changed[c.Participant] = v.Lines
	}
}

// aside takes in a line that the viewers do not see, as far as one participant does.
func (v *view) aside(l rounds.Logged) error {
	if l.Only == 0 || contest.Kind(l.Kind) != contest.KindJudgement || contest.Audience(l.Audience)&contest.Own == 0 {
		return nil
	}
	some, err := contest.Read(contest.KindJudgement, l.Object.Object, l.Data)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.Seq, err)
	}
	for _, e := range some {
		v.Aside.Take(e)
	}
	return nil
}

// few entries are counted one after another, which is quicker than to count everything once.
const few = 200

// note keeps what standings do not count. It reports whether the round is scored in another way from now on.
func (v *view) note(l rounds.Logged) (bool, error) {
	name := l.Object.Object
	switch contest.Kind(l.Kind) {
	case contest.KindRound:
		was := v.Round
		v.Round = contest.RoundData{}
		if err := json.Unmarshal(l.Data, &v.Round); err != nil {
			return false, err
		}
		if was.Format == v.Round.Format && bytes.Equal(was.Settings, v.Round.Settings) {
			return false, nil
		}
		var err error
		v.Config, err = contest.ParseConfig(contest.Format(v.Round.Format), v.Round.Settings)
		return true, err
	case contest.KindParticipant:
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return false, err
		}
		return false, rounds.Keep(v.Participants, id, l)
	case contest.KindOrganization:
		v.anew = v.Lines // rows say what it is called
		return false, rounds.Keep(v.Organizations, name, l)
	case contest.KindGroup:
		return false, rounds.Keep(v.Groups, name, l)
	case contest.KindProblem:
		return false, rounds.Keep(v.Problems, name, l)
	case contest.KindPerson:
		return false, rounds.Keep(v.Persons, name, l)
	case contest.KindAccount, contest.KindSubmission, contest.KindJudgement, contest.KindRun, contest.KindClarification, contest.KindAward, contest.KindCommentary:
	}
	return false, nil
}
