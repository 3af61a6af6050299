// Package people has the rules of accounts, of their passwords and keys, of webhooks, and
// of who may do what in a space. Web pages, the API and commands all go by them.
package people

import (
	"regexp"
	"slices"

	"deepoj/host/judge"
)

// Guest is the name of whoever has no account.
const Guest = "guest"

// Reasons of field errors, as the API has them.
const (
	reasonUnknown = "unknown"
	reasonEmpty   = "empty"
	reasonTooLong = "too_long"
	reasonInvalid = "invalid"
	reasonDenied  = "not_allowed"
)

// wrong makes a field error; the text is a sentence for people.
func wrong(field, reason, format string, args ...any) *judge.FieldError {
	return judge.Wrong(field, reason, format, args...)
}

// userName is what new accounts may be called: in one case, so that nobody takes
// a name that looks like another, and without what an address would change.
var userName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,63}$`)

// CheckUserName reports why a new account may not have the name, or nil.
func CheckUserName(name string) *judge.FieldError {
	switch {
	case !userName.MatchString(name):
		return wrong("name", reasonInvalid, "A name has up to 64 of a to z, 0 to 9 and . _ @ -, and begins with a letter or digit.")
	case name == Guest:
		return wrong("name", reasonInvalid, "This name is that of whoever has no account.")
	}
	return nil
}

// CheckRole reports why a text names no role, or nil.
func CheckRole(role judge.Role) *judge.FieldError {
	if !slices.Contains(judge.Roles, role) {
		return wrong("role", reasonUnknown, "There is no role %.64q; the roles are contestant, setter, staff and admin.", string(role))
	}
	return nil
}

// Least returns the role that may do less.
func Least(a, b judge.Role) judge.Role {
	return judge.Roles[min(slices.Index(judge.Roles, a), slices.Index(judge.Roles, b))]
}
