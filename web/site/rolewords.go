package site

import (
	"deepoj/host/judge"
	"deepoj/web/locale"
)

var roleNames = map[judge.Role]locale.Word{
	judge.RoleContestant: "contestant", judge.RoleSetter: "setter", judge.RoleStaff: "staff", judge.RoleAdmin: "admin",
}

// RoleName is a role, or the role in a space, to be said in the reader's language.
func RoleName[R ~string](role R) locale.Sentence { return locale.Named(roleNames, judge.Role(role)) }

var scopeNames = map[judge.Scope]locale.Word{
	judge.ScopeRead: "read", judge.ScopeSubmit: "submit", judge.ScopeSetter: "setter", judge.ScopeStaff: "staff", judge.ScopeAdmin: "admin",
}

// ScopeName is what a key may do, in a word, to be said in the reader's language.
func ScopeName(s judge.Scope) locale.Sentence { return locale.Named(scopeNames, s) }

// ScopeMay says what a key may do.
func ScopeMay(s judge.Scope) locale.Sentence {
	switch s {
	case judge.ScopeRead:
		return locale.Sentence{Key: "read what I see as a contestant"}
	case judge.ScopeSubmit:
		return locale.Sentence{Key: "do all that contestants may"}
	case judge.ScopeSetter, judge.ScopeStaff, judge.ScopeAdmin:
		return locale.Sentence{Key: "do all that the role %s may", Args: []any{RoleName(s)}}
	}
	return locale.Sentence{}
}

// Either lists choices as a sentence names them: "@a, @b or @c".
func Either(choices []string) any {
	switch n := len(choices); n {
	case 0:
		return ""
	case 1:
		return choices[0]
	default:
		return locale.Sentence{Key: "%s or %s", Args: []any{Either(choices[:n-1]), choices[n-1]}}
	}
}
