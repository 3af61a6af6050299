package people

import (
	"slices"

	"deepoj/host/judge"
)

// This file is the one place that says what somebody may do in a space. When a
// space takes submissions, and how many, the database decides as it stores them.

// SpaceAct is something that people do in a space.
type SpaceAct int

// What people do in a space.
const (
	SeeSpace         SpaceAct = iota // that it exists, and its settings
	SeeSpaceProblems                 // and scores
	ArrangeSpace                     // choose its problems
	ManageSpace                      // its settings and members, and see what all hand in
)

// SpaceRole is the role in a space of a member who has a role of the site: staff of the site are staff of each space.
func SpaceRole(site judge.Role, member judge.SpaceRole) judge.SpaceRole {
	if site == judge.RoleStaff || site == judge.RoleAdmin {
		return judge.SpaceStaff
	}
	return member
}

// SpaceRoleByKey is the role in a space of whoever comes with a key: that of the member,
// but no more than the key may do elsewhere.
func SpaceRoleByKey(scope judge.Scope, member judge.SpaceRole) judge.SpaceRole {
	most := slices.Index(judge.SpaceRoles, judge.SpaceRole(scope.Role()))
	if member == "" || most < 0 { // more than any role in a space
		return member
	}
	return judge.SpaceRoles[min(most, slices.Index(judge.SpaceRoles, member))]
}

// Prepares reports whether somebody with the role prepares a space: no time and no
// limit of it binds them, and nothing that they hand in counts.
func Prepares(role judge.SpaceRole) bool {
	return role == judge.SpaceSetter || role == judge.SpaceStaff
}

// May reports whether somebody with the role may do something in a space; "" is the role of whoever is no member.
func May(role judge.SpaceRole, act SpaceAct, space *judge.Space) bool {
	switch act {
	case SeeSpace:
		return space.Listed || role != ""
	case SeeSpaceProblems:
		return Prepares(role) || role != "" && space.Phase() != judge.SpaceBefore
	case ArrangeSpace:
		return Prepares(role)
	case ManageSpace:
		return role == judge.SpaceStaff
	}
	return false
}
