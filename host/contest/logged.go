package contest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/judge"
)

// Kind is what an entry of a written log is about.
type Kind string

// The kinds, in the order in which one refers to those before it.
const (
	KindRound         Kind = "round"
	KindOrganization  Kind = "organization"
	KindGroup         Kind = "group"
	KindParticipant   Kind = "participant"
	KindPerson        Kind = "person"
	KindAccount       Kind = "account"
	KindProblem       Kind = "problem"
	KindSubmission    Kind = "submission"
	KindJudgement     Kind = "judgement"
	KindRun           Kind = "run"
	KindClarification Kind = "clarification"
	KindAward         Kind = "award"
	KindCommentary    Kind = "commentary"
)

// Kinds are all kinds in that order.
var Kinds = []Kind{
	KindRound, KindOrganization, KindGroup, KindParticipant, KindPerson, KindAccount, KindProblem, KindSubmission, KindJudgement, KindRun, KindClarification, KindAward, KindCommentary,
}

// What a written log says of each kind, as JSON. Times are UTC with milliseconds, lengths are milliseconds of contest time.
// Nothing in it depends on who reads it: who must not know something is not told of it.
type (
	// RoundData is a round, and how far it is. Started, Frozen and Ended are missing until then.
	RoundData struct {
		Code       string          `json:"code"`
		Title      string          `json:"title"`
		FormalName string          `json:"formal_name,omitempty"`
		Kind       judge.RoundKind `json:"kind"`
		Format     string          `json:"format"`
		Settings   json.RawMessage `json:"settings,omitempty"`
		Start      *time.Time      `json:"start,omitempty"`
		Paused     *int64          `json:"paused_ms,omitempty"`
		Duration   *int64          `json:"duration_ms,omitempty"`
		Freeze     *int64          `json:"freeze_ms,omitempty"`
		Removed    []RemovedData   `json:"removed,omitempty"`
		Thaw       *time.Time      `json:"thaw,omitempty"`
		Started    *time.Time      `json:"started,omitempty"`
		Frozen     *time.Time      `json:"frozen,omitempty"`
		Ended      *time.Time      `json:"ended,omitempty"`
		Thawed     *time.Time      `json:"thawed,omitempty"`
		Finalized  *time.Time      `json:"finalized,omitempty"`
		UpdatesEnd *time.Time      `json:"end_of_updates,omitempty"`
		PublicRuns bool            `json:"public_runs"`
		Speed      int             `json:"speed,omitempty"` // milliseconds of contest time in one, of a rehearsal; 0 = 1
	}

	// RemovedData is an interval that was taken out of the time of a round.
	RemovedData struct {
		ID     int64     `json:"id"`
		From   time.Time `json:"from"`
		To     time.Time `json:"to"`
		Undone bool      `json:"undone,omitempty"`
	}

	// OrganizationData is where participants come from.
	OrganizationData struct {
		ICPCID      string       `json:"icpc_id,omitempty"`
		Name        string       `json:"name"`
		FormalName  string       `json:"formal_name,omitempty"`
		Country     string       `json:"country,omitempty"`
		Subdivision string       `json:"country_subdivision,omitempty"`
		URL         string       `json:"url,omitempty"`
		Twitter     string       `json:"twitter,omitempty"`
		Logos       []judge.Logo `json:"logos,omitempty"`
	}

	// GroupData is a group of participants.
	GroupData struct {
		ICPCID string `json:"icpc_id,omitempty"`
		Name   string `json:"name"`
		Type   string `json:"type,omitempty"`
		Ranked bool   `json:"ranked"`
		Sort   int    `json:"sort,omitempty"`
	}

	// ParticipantData is a team or a single person. The object is its number.
	ParticipantData struct {
		Code         string   `json:"code"`
		ICPCID       string   `json:"icpc_id,omitempty"`
		Label        string   `json:"label,omitempty"`
		Name         string   `json:"name"`
		DisplayName  string   `json:"display_name,omitempty"`
		Organization string   `json:"organization,omitempty"`
		Groups       []string `json:"groups,omitempty"`
		Room         string   `json:"room,omitempty"`
		Ranked       bool     `json:"ranked"`
		Hidden       bool     `json:"hidden,omitempty"`
		Disqualified bool     `json:"disqualified,omitempty"`
		AddedMinutes int64    `json:"added_minutes,omitempty"` // to its row, by staff; see [Adjustment]
		AddedPoints  float64  `json:"added_points,omitempty"`
	}

	// PersonData is somebody whom a contest is about. The object is a short name.
	PersonData struct {
		ICPCID       string   `json:"icpc_id,omitempty"`
		Name         string   `json:"name"`
		Title        string   `json:"title,omitempty"`
		Role         string   `json:"role"`                   // contestant, coach, staff or other
		Participants []string `json:"participants,omitempty"` // codes; contestants and coaches have some
	}

	// AccountData is an account that hands in to the contest, or did where it was held. The object is a short name.
	AccountData struct {
		Username    string `json:"username"`
		Name        string `json:"name,omitempty"`
		Type        string `json:"type"`                  // team, judge, admin, analyst or staff
		Participant string `json:"participant,omitempty"` // the code, of type team
		Person      string `json:"person,omitempty"`      // the short name of the only person who uses it
	}

	// CommentaryData is what somebody says of the contest as it goes on. The object is a short name.
	CommentaryData struct {
		Time         time.Time `json:"time"`
		Message      string    `json:"message"`
		Tags         []string  `json:"tags,omitempty"`
		Source       string    `json:"source,omitempty"`       // the short name of the person who says it
		Participants []string  `json:"participants,omitempty"` // codes of those whom it is about
		Problems     []string  `json:"problems,omitempty"`     // short names, likewise
		Submissions  []int64   `json:"submissions,omitempty"`  // numbers, likewise
	}

	// ProblemData is a problem of a round. The object is its short name.
	ProblemData struct {
		Label   string   `json:"label"`
		Name    string   `json:"name"`
		Ordinal int      `json:"ordinal"`
		Points  *float64 `json:"points,omitempty"`
		RGB     string   `json:"rgb,omitempty"`
		Color   string   `json:"color,omitempty"`

		// Of the version that is judged; 0 = unknown.
		CPU       int64   `json:"cpu_ms,omitempty"`
		MemoryMiB int64   `json:"memory_mib,omitempty"`
		OutputMiB int64   `json:"output_mib,omitempty"`
		CodeKiB   int64   `json:"code_kib,omitempty"`
		Tests     int     `json:"tests,omitempty"`
		MaxScore  float64 `json:"max_score,omitempty"` // of a problem that gives points

		Statement   []judge.ProblemFile `json:"statement,omitempty"`   // those that are PDF
		Attachments []judge.ProblemFile `json:"attachments,omitempty"` // what contestants get besides
	}

	// SubmissionData is a program that was handed in. The object is its number in the round.
	SubmissionData struct {
		Number      int64     `json:"number"`
		Participant int64     `json:"participant"`
		Team        string    `json:"team"` // the participant's code
		Problem     string    `json:"problem"`
		Language    string    `json:"language"`
		Time        time.Time `json:"time"`
		Token       bool      `json:"token,omitempty"` // was spent on it
	}

	// JudgementData is a judging of a submission. The object is the number of that, a hyphen and the generation.
	JudgementData struct {
		Submission int64            `json:"submission"`
		Generation int              `json:"generation"`
		Verdict    judge.Verdict    `json:"verdict"`
		Current    bool             `json:"current"`
		Score      *float64         `json:"score,omitempty"`
		Groups     []GroupScoreData `json:"groups,omitempty"`
		Start      time.Time        `json:"start"`
		End        time.Time        `json:"end"`
		CPU        int64            `json:"cpu_us,omitempty"` // of the worst test
	}

	// RunData is a single test of a judging. The object is the judgement, a hyphen and the ordinal.
	RunData struct {
		Judgement string        `json:"judgement"`
		Ordinal   int           `json:"ordinal"` // from 1
		Verdict   judge.Verdict `json:"verdict"`
		Time      time.Time     `json:"time"` // when it was over, as far as the times of the tests before it say
		CPU       int64         `json:"cpu_us,omitempty"`
	}

	// ClarificationData is a question of a participant, or what the jury says. The object is its name, with a star behind it as
	// everybody is told, and with @ and a number as one participant alone is.
	ClarificationData struct {
		From    string    `json:"from,omitempty"`     // the code of the participant; "" = the jury
		Teams   []string  `json:"teams,omitempty"`    // codes of those whom alone it is for
		Groups  []string  `json:"groups,omitempty"`   // likewise; neither = everybody
		ReplyTo string    `json:"reply_to,omitempty"` // as far as the question is seen
		Problem string    `json:"problem,omitempty"`
		Text    string    `json:"text"`
		Time    time.Time `json:"time"`
	}

	// AwardData is what some participants get. The object is its id.
	AwardData struct {
		Citation     string   `json:"citation"`
		Participants []string `json:"participants"`    // their codes
		Given        bool     `json:"given,omitempty"` // by the jury, and not by the board
	}

	// GroupScoreData is what a submission got for a group of tests.
	GroupScoreData struct {
		Name  string  `json:"name"`
		Score float64 `json:"score"`
	}
)

// PersonRoles are the roles of persons, and AccountTypes the types of accounts, as the Contest API has them.
var (
	PersonRoles  = []string{"contestant", "coach", "staff", "other"}
	AccountTypes = []string{"team", "judge", "admin", "analyst", "staff"}
)

// Plays reports whether a person is of a team.
func (d PersonData) Plays() bool { return d.Role == "contestant" || d.Role == "coach" }

// TellsVerdict reports whether a tag says how something was judged, as those that the Contest API knows do.
func (d CommentaryData) TellsVerdict() bool {
	return slices.ContainsFunc(d.Tags, func(tag string) bool { return strings.HasPrefix(tag, "accepted") || strings.HasPrefix(tag, "rejected") })
}

// Read returns what an entry of a written log means for standings. No data means that the thing is told of no more; what is
// said of something that takes no part in standings is no entry, and so is what is of a kind that this version does not know.
func Read(kind Kind, object string, data []byte) ([]Entry, error) {
	var out []Entry
	var err error
	switch kind {
	case KindRound:
		out, err = readRound(data)
	case KindGroup:
		out, err = decode(data, func(d GroupData) Entry { return Group{ID: object, Name: d.Name, Ranked: d.Ranked, Sort: d.Sort} })
	case KindParticipant:
		id, wrong := strconv.ParseInt(object, 10, 64)
		if wrong != nil {
			return nil, fmt.Errorf("the log names participant %q, which is no number", object)
		}
		var added Adjustment
		out, err = decode(data, func(d ParticipantData) Entry {
			p := Participant{ID: id, Name: d.Name, Groups: d.Groups, Ranked: d.Ranked, Hidden: d.Hidden}
			if d.DisplayName != "" {
				p.Name = d.DisplayName
			}
			if d.Disqualified {
				p.Status = Disqualified
			}
			added = Adjustment{id, d.AddedMinutes, d.AddedPoints}
			return p
		})
		if out = append(out, added); data == nil {
			out = []Entry{Participant{ID: id, Gone: true}}
		}
	case KindProblem:
		out, err = decode(data, func(d ProblemData) Entry {
			return Problem{ID: object, Label: d.Label, Name: d.Name, Ordinal: d.Ordinal, Points: d.Points, Max: d.MaxScore}
		})
		if data == nil {
			out = []Entry{Problem{ID: object, Gone: true}}
		}
	case KindSubmission:
		token := false
		out, err = decode(data, func(d SubmissionData) Entry {
			token = d.Token
			return Submission{ID: d.Number, Participant: d.Participant, Problem: d.Problem, Time: d.Time}
		})
		// One that staff have not count is told of no more; told again, it counts.
		number, wrong := strconv.ParseInt(object, 10, 64)
		if wrong != nil {
			return nil, fmt.Errorf("the log names submission %q, which is no number", object)
		}
		out = append(out, Mark{Submission: number, Ignored: data == nil})
		if token {
			out = append(out, Token{number})
		}
	case KindJudgement:
		out, err = decode(data, func(d JudgementData) Entry {
			j := Judgement{Submission: d.Submission, Generation: d.Generation, Verdict: d.Verdict, Current: d.Current, Score: d.Score}
			for _, g := range d.Groups {
				j.Groups = append(j.Groups, GroupScore{g.Name, g.Score})
			}
			return j
		})
	case KindOrganization, KindPerson, KindAccount, KindRun, KindClarification, KindAward, KindCommentary:
	default: // of a later version, beside which this one goes on
	}
	if err != nil {
		return nil, fmt.Errorf("the log says of %s %q: %w", kind, object, err)
	}
	return out, nil
}

// decode reads data, of which there may be none.
func decode[D any](data []byte, entry func(D) Entry) ([]Entry, error) {
	if data == nil {
		return nil, nil
	}
	var d D
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	return []Entry{entry(d)}, nil
}

func readRound(data []byte) ([]Entry, error) {
	var d RoundData
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	out := []Entry{d.Clock().c.round}
	for _, i := range d.Removed {
		out = append(out, Removed(i))
	}
	return out, nil
}

// Clock is the clock of a round.
func (d RoundData) Clock() Clock {
	c := clock{round: Round{Thawed: d.Thawed != nil, Speed: d.Speed}}
	if d.Start != nil {
		c.round.Start = *d.Start
	}
	if d.Duration != nil {
		c.round.Duration = time.Duration(*d.Duration) * time.Millisecond
	}
	if d.Freeze != nil {
		c.round.Freeze = new(time.Duration(*d.Freeze) * time.Millisecond)
	}
	for _, i := range d.Removed {
		c.remove(Removed(i))
	}
	return Clock{c: c}
}

// Together is [State.Apply] of several entries, after which everything is counted once.
func (s *State) Together(entries ...Entry) (Change, error) {
	if len(entries) == 1 {
		return s.Apply(entries[0])
	}
	was := s.held
	s.held = true
	defer func() { s.held = was }()
	for _, e := range entries {
		if _, err := s.Apply(e); err != nil {
			return Change{}, err
		}
	}
	if !was {
		s.settle()
	}
	return Change{All: true}, nil
}
