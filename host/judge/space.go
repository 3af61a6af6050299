package judge

import "time"

// SpaceRole is what a member may do in a space.
type SpaceRole string

// The roles in a space. Each may do what those before it may. A setter sees and chooses the problems at any time; staff
// also manage members and settings, and see what all hand in.
const (
	SpaceContestant SpaceRole = "contestant"
	SpaceSetter     SpaceRole = "setter"
	SpaceStaff      SpaceRole = "staff"
)

// SpaceRoles lists every role in a space.
var SpaceRoles = []SpaceRole{SpaceContestant, SpaceSetter, SpaceStaff}

// SpaceRefusal is why a space does not take a submission now.
type SpaceRefusal string

// What a space refuses of its contestants.
const (
	SpaceNotMember      SpaceRefusal = "not_member"
	SpaceNotOpen        SpaceRefusal = "not_open"         // opens later
	SpaceClosed         SpaceRefusal = "closed"           // by the time at which it is handed in
	SpaceTooFast        SpaceRefusal = "too_fast"         // as many as allowed in the last minute
	SpaceTooManyWaiting SpaceRefusal = "too_many_waiting" // as many as allowed are not judged yet
)

// SpaceError is returned by a submit that a space does not take now.
type SpaceError struct {
	Refusal  SpaceRefusal
	Patience *time.Duration // until there is room, of SpaceTooFast; nil = unknown
}

func (e *SpaceError) Error() string { return "the space refuses it: " + string(e.Refusal) }

// Space is a course or a contest: who takes part, in which problems, when and within which limits.
type Space struct {
	ID           int64
	Slug         string // short name, which stays
	Title        string
	Description  string
	Opens        *time.Time // nil = always was open
	Closes       *time.Time // nil = never closes; what is handed in at that time is late
	Languages    []string   // empty = all that a problem takes
	MaxSourceKiB int32      // of a program; 0 = as the problem says
	MaxWaiting   int32      // submissions of a member that are not judged, at most 100; 0 = any number
	PerMinute    int32      // submissions of a member, at most 100; 0 = any number
	Listed       bool       // everybody sees that it exists
	CreatedBy    string
	Created      time.Time

	// Of whoever looks.
	Role SpaceRole // "" = no member
	Now  time.Time // the database's, which decides

	Members, Problems int64
}

// SpacePhase is where a space stands in time.
type SpacePhase string

// The phases of a space.
const (
	SpaceBefore SpacePhase = "before"
	SpaceOpen   SpacePhase = "open"
	SpaceAfter  SpacePhase = "after"
)

// Phase returns where the space stood when it was read.
func (s *Space) Phase() SpacePhase {
	switch {
	case s.Opens != nil && s.Opens.After(s.Now):
		return SpaceBefore
	case s.Closes != nil && !s.Closes.After(s.Now):
		return SpaceAfter
	}
	return SpaceOpen
}

// SpaceMember is somebody who takes part in a space.
type SpaceMember struct {
	Name, DisplayName string
	Role              SpaceRole
	Added             time.Time
}

// SpaceProblem is a problem of a space as somebody sees it.
type SpaceProblem struct {
	Slug, Title string
	Points      *float64 // of a full solution; nil = 1, or the problem's own score
	Worth       float64  // of a full solution, whoever says so
	Hidden      bool
	Solved      int64 // by how many, officially

	// What the viewer handed in to the space.
	Tries   int64   // that were judged, up to the first that was accepted
	Verdict Verdict // of the best, "" if there is none
	Score   *float64
	JobID   int64
}

// MaxSpaceProblems bounds the problems of a space.
const MaxSpaceProblems = 100

// SpaceDesk is where somebody hands in to a space: the space, and a problem of it.
type SpaceDesk struct {
	Space   Space // without its counts
	Place   int32 // of the problem; 0 = it is not in the space
	Problem *Problem
}

// SpaceScore is what a contestant achieved in a space, officially.
type SpaceScore struct {
	Name, DisplayName string
	Solved, Tried     int64 // problems
	Points            float64
}
