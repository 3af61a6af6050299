package site

import (
	"math/rand/v2"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
)

// SpaceView is a space on its pages, as the viewer sees it.
type SpaceView struct {
	judge.Space
	viewer Viewer // who looks
}

// ViewSpace is a space as a viewer sees it.
func ViewSpace(space *judge.Space, v Viewer) SpaceView { return SpaceView{*space, v} }

// URL is the page of the space.
func (v SpaceView) URL() string { return SpaceURL(v.Slug) }

// Manages reports whether the viewer may change settings and members.
func (v SpaceView) Manages() bool { return v.viewer.May(people.ManageSpace, &v.Space) }

// Arranges reports whether the viewer may choose the problems.
func (v SpaceView) Arranges() bool { return v.viewer.May(people.ArrangeSpace, &v.Space) }

// Shows reports whether the viewer may see problems and scores.
func (v SpaceView) Shows() bool { return v.viewer.May(people.SeeSpaceProblems, &v.Space) }

// MyRole is the viewer's role, "" if they are no member.
func (v SpaceView) MyRole() judge.SpaceRole { return v.viewer.SpaceRole(v.Role) }

// Prepares reports whether what the viewer hands in does not count.
func (v SpaceView) Prepares() bool { return people.Prepares(v.MyRole()) }

// Phase is where the space stands in time.
func (v SpaceView) Phase() judge.SpacePhase { return v.Space.Phase() }

// Left is how long the space stays as it is: until it opens, or closes; 0 = for ever.
func (v SpaceView) Left() time.Duration {
	switch v.Phase() {
	case judge.SpaceBefore:
		return v.Opens.Sub(v.Now)
	case judge.SpaceOpen:
		if v.Closes != nil {
			return v.Closes.Sub(v.Now)
		}
	case judge.SpaceAfter:
	}
	return 0
}

// soon is how long before it opens the page of a space waits for that, in a browser without script.
const soon = time.Hour

// spread is over how many seconds those come who wait for one moment.
const spread = 8

// Refresh returns after how many seconds a browser without script loads the page again, since the space opens; 0 = never.
func (v SpaceView) Refresh() int {
	if v.Phase() != judge.SpaceBefore {
		return 0
	}
	return RefreshAt(v.Left())
}

// RefreshAt is after how many seconds a page is loaded again for which something begins in a while; 0 = not for now.
func RefreshAt(left time.Duration) int {
	if left <= 0 || left > soon {
		return 0
	}
	return WholeSeconds(left) + rand.IntN(spread) //nolint:gosec // spreads load, keeps no secret
}

// SourceLimit is the limit on programs, in bytes.
func (v SpaceView) SourceLimit() int64 { return int64(v.MaxSourceKiB) << 10 }
