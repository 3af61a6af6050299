package judge

import (
	"encoding/json"
	"time"
)

// RoundKind is what a round is for.
type RoundKind string

// The kinds of rounds.
const (
	RoundContest    RoundKind = "contest"
	RoundAssignment RoundKind = "assignment"
)

// Round is a contest or an assignment: a time in a space, with its problems and its way of scoring.
//
// Contest time passes from the start on, but for intervals that were removed from it.
type Round struct {
	ID         int64
	SpaceID    int64
	Space      string // the short name of the space
	Code       string // short name, which stays and is the only one of its kind
	Title      string
	FormalName string // "" = the title
	Kind       RoundKind
	Format     string          // how it is scored, such as icpc
	Settings   json.RawMessage // of the format; empty = as usual

	Start    *time.Time     // nil = nobody knows yet
	Paused   *time.Duration // what was left of the countdown when it was stopped; nil = it was not. Then Start is nil
	Duration *time.Duration // contest time at which it ends; nil = never
	Freeze   *time.Duration // contest time from which on judgements are hidden; nil = never
	Removed  []RoundRemoved // also those that were given back; by id

	Thaw        *time.Time // when what is hidden will be shown; nil = when somebody says so
	Thawed      *time.Time // when it was shown
	Finalized   *time.Time // since when the result stands
	FinalizedBy string
	UpdatesEnd  *time.Time // since when nothing changes any more

	PublicRuns bool // everybody is told of single tests, as far as they are told of the judgement
	Practice   bool // problems stay open when it is over
	Follows    bool // its times and problems are those of its space, whatever they become
	Speed      int  // milliseconds of contest time that pass in one: more than 1 of a rehearsal. It stays

	By      string // who made it
	Created time.Time
	Now     time.Time // the database's when it was read, which decides
}

// BoardSnapshot says what a board was when it was shown.
type BoardSnapshot struct {
	View   string    `json:"view"`   // for whom: public, staff
	Seq    int64     `json:"seq"`    // the last line of the log that was counted
	Digest string    `json:"digest"` // of ranks, sums and cells, SHA-256 in hexadecimal
	At     time.Time `json:"at"`
}

// RoundRemoved is an interval that was taken out of the time of a round.
type RoundRemoved struct {
	ID       int64
	From, To time.Time
	Reason   string
	By       string
	Undone   *time.Time // when it was given back; nil = it was not
}

// RoundProblem is a problem of a round.
type RoundProblem struct {
	Problem string // its short name
	Version string // which is judged whatever becomes of the problem; "" = the live one
	Title   string // of that version
	Label   string // such as A
	Points  *float64
	RGB     string     // of its balloon, such as #ff0000; "" = none
	Color   string     // the name of that; "" = none
	Paused  *time.Time // since when nothing is taken; nil = it is not paused
}

// RoundAward is what the jury of a round gives beside what the board gives.
type RoundAward struct {
	Code         string
	Citation     string
	Participants []string // their codes
}

// RoundOpenError is returned where the result of a round cannot stand yet. It names everything that is in the way.
type RoundOpenError struct {
	Running bool // it is not over
	RoundUnsettled
}

func (e *RoundOpenError) Error() string { return "the result of the round cannot stand yet" }

// RoundUnsettled is how many submissions of a round have no result that stands, and questions no answer.
type RoundUnsettled struct {
	Unjudged int // without a verdict
	Errors   int // with a judging error, which is nobody's fault who took part
	InSets   int // in a rejudge set that is neither applied nor cancelled

	Questions int // of participants that nobody has answered or closed
}

// MaxRoundProblems bounds the problems of a round.
const MaxRoundProblems = 100

// Organization is where a participant comes from.
type Organization struct {
	ID                                        int64
	Code                                      string // short name within its space
	ICPCID                                    string // of the ICPC; "" = none
	Name, FormalName                          string
	Country, CountrySubdivision, URL, Twitter string // "" = unknown; the first is of ISO 3166-1 alpha-3
}

// Logo is a picture of an organization, without its bytes.
type Logo struct {
	Name   string `json:"name"`  // of its file, such as logo.64x64.png
	Media  string `json:"media"` // image/png, image/jpeg or image/svg+xml
	Width  int    `json:"width"` // pixels
	Height int    `json:"height"`
	Hash   string `json:"hash"` // MD5 in hexadecimal
}

// TeamGroup is a group of participants.
type TeamGroup struct {
	ID     int64
	Code   string
	ICPCID string
	Name   string
	Type   string
	Ranked bool // its participants rank among all others
	Sort   int32
}

// ParticipantStatus is what became of a participant.
type ParticipantStatus string

// What may become of a participant.
const (
	ParticipantActive       ParticipantStatus = "active"
	ParticipantWithdrawn    ParticipantStatus = "withdrawn"
	ParticipantBanned       ParticipantStatus = "banned"
	ParticipantDisqualified ParticipantStatus = "disqualified"
)

// Participant is who takes part in rounds of a space: a team, or a single person.
type Participant struct {
	ID           int64
	Code         string // short name within its space
	ICPCID       string
	Label        string // as on its table; "" = the code
	Name         string
	DisplayName  string // "" = the name
	Organization string // its code; "" = none
	Groups       []string
	Room         string
	Ranked       bool
	Hidden       bool // only for staff
	Status       ParticipantStatus
	Reason       string // of a status that is not active
	Members      []ParticipantMember
}

// ParticipantRole is what somebody is in a team.
type ParticipantRole string

// The roles in a team. Only contestants hand in.
const (
	MemberContestant ParticipantRole = "contestant"
	MemberCoach      ParticipantRole = "coach"
)

// ParticipantMember is somebody in a team.
type ParticipantMember struct {
	User string
	Role ParticipantRole
}

// RoundRefusal is why a round does not take a submission now.
type RoundRefusal string

// What a round refuses of its participants.
const (
	RoundNoParticipant  RoundRefusal = "no_participant"   // nobody who takes part
	RoundBanned         RoundRefusal = "banned"           // or withdrawn
	RoundNotOpen        RoundRefusal = "not_open"         // begins later
	RoundClosed         RoundRefusal = "closed"           // by the time at which it is handed in
	RoundOtherProblem   RoundRefusal = "other_problem"    // it has no such problem
	RoundProblemPaused  RoundRefusal = "paused"           // for a while: the problem
	RoundTooMany        RoundRefusal = "too_many"         // as many of the problem as allowed in all
	RoundTooSoon        RoundRefusal = "too_soon"         // after the last one of the problem
	RoundTooFast        RoundRefusal = "too_fast"         // as many as allowed in the last minute
	RoundTooManyWaiting RoundRefusal = "too_many_waiting" // as many as allowed are not judged yet
)

// RoundError is returned by a submit that a round does not take now.
type RoundError struct {
	Refusal  RoundRefusal
	Patience *time.Duration // until there is room, of RoundTooFast and RoundTooSoon; nil = unknown
}

func (e *RoundError) Error() string { return "the round refuses it: " + string(e.Refusal) }
