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
	DisplayName  string     // what people call them; "" = by their name
	Email        string     // in small letters; "" = none
	Language     string     // that they read pages in; "" = their browser's
	Zone         string     // whose clock they read; "" = their browser's
}

// Invitation is a link by which people become contestants of a space.
type Invitation struct {
	ID      int64
	Label   string // whom it is for, in the words of who made it
	By      string
	Created time.Time
	Expires time.Time
	Most    int32 // people who may come by it
	Used    int32 // who did
	Revoked *time.Time
	Works   bool // now
}

// LetterKind is what a letter is about.
type LetterKind string

// The kinds of letters. The first four hold a link.
const (
	LetterRegister        LetterKind = "register" // to make an account
	LetterReset           LetterKind = "reset"    // to a new password
	LetterInvite          LetterKind = "invite"   // to the first password of an account that was made for somebody
	LetterEmail           LetterKind = "email"    // to an address, for an account
	LetterEmailChanged    LetterKind = "email_changed"
	LetterPasswordChanged LetterKind = "password_changed"
)

// Letter is what somebody is to be sent by e-mail.
type Letter struct {
	ID         int64
	Kind       LetterKind
	Asked      string // an address, or the name of an account
	User       string // whom it is about; "" = is to be found out
	Invitation int64  // 0 = none
	Language   string // of the page where it was asked for; "" = English
	Tries      int32  // with this one
	Age        time.Duration
}

// Link is what a link in a letter leads to.
type Link struct {
	Kind       LetterKind // register, reset or email
	Email      string     // where it was sent
	User       string     // "" of one that makes an account
	Invitation int64      // 0 = none
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
