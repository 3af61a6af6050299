package judge

import "time"

// Role is what a user may do.
type Role string

// The roles. Each may do what those before it may.
const (
	RoleContestant Role = "contestant"
	RoleSetter     Role = "setter"
	RoleStaff      Role = "staff"
	RoleAdmin      Role = "admin"
)

// Roles lists every role.
var Roles = []Role{RoleContestant, RoleSetter, RoleStaff, RoleAdmin}

// User is an account.
type User struct {
	Name         string
	PasswordHash string // not in lists
	Role         Role
	Created      time.Time
	Disabled     *time.Time // since when they may not log in; nil = they may
	OneTime      bool       // the password was given to them and has to be changed first
}

// Scope is what a key may do: never more than its owner.
type Scope string

// The scopes. Each may do what those before it may.
const (
	ScopeRead   Scope = "read"   // look at what a contestant sees
	ScopeSubmit Scope = "submit" // all that a contestant may
	ScopeSetter Scope = "setter"
	ScopeStaff  Scope = "staff"
	ScopeAdmin  Scope = "admin"
)

// Scopes lists every scope.
var Scopes = []Scope{ScopeRead, ScopeSubmit, ScopeSetter, ScopeStaff, ScopeAdmin}

// Role returns the most that a key of this scope may be used as.
func (s Scope) Role() Role {
	switch s {
	case ScopeSetter:
		return RoleSetter
	case ScopeStaff:
		return RoleStaff
	case ScopeAdmin:
		return RoleAdmin
	case ScopeRead, ScopeSubmit:
	}
	return RoleContestant
}

// Key is a secret with which programs act for a user. The secret itself is not kept.
type Key struct {
	ID       int64
	User     string
	Label    string // what it is for, in its owner's words
	Scope    Scope
	Created  time.Time
	Expires  *time.Time // nil = never
	LastUsed *time.Time // to the minute; nil = never
	Revoked  *time.Time
}

// Works reports whether the key is taken at the time now, as long as its owner may log in.
func (k Key) Works(now time.Time) bool {
	return k.Revoked == nil && (k.Expires == nil || now.Before(*k.Expires))
}

// Identity is who somebody is at a provider of OpenID Connect. An e-mail address or
// a name there may come to mean somebody else; the two of these together do not.
type Identity struct {
	Issuer, Subject string
}

// Audience is who sees a profile, besides whose it is and staff.
type Audience string

// The audiences, from the smallest on.
const (
	AudienceSelf     Audience = "self"
	AudienceMembers  Audience = "members" // whoever has an account
	AudienceEveryone Audience = "everyone"
)

// Audiences lists every audience.
var Audiences = []Audience{AudienceSelf, AudienceMembers, AudienceEveryone}
