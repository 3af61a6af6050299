package people

import (
	"fmt"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/people/strength"
)

const (
	// MinPassword is how many bytes a new password has at least.
	MinPassword = 10

	leastName = 3 // characters of a name that no password may have in it
)

// CheckNewPassword reports why an account may not have a password, or nil: too short or long, easily guessed, or with
// the name of its owner in it. The field is where the password was given.
func CheckNewPassword(field, password string, owner judge.User) (*judge.FieldError, error) {
	switch {
	case len(password) < MinPassword:
		return wrong(field, reasonInvalid, "A new password has at least %d characters.", MinPassword), nil
	case len(password) > MaxPassword:
		return wrong(field, reasonInvalid, "A new password has at most %d bytes.", MaxPassword), nil
	}
	small := strings.ToLower(password)
	local, _, _ := strings.Cut(owner.Email, "@")
	words := append([]string{owner.Name, local, "deepoj", "deep-oj"}, strings.Fields(strings.ToLower(owner.DisplayName))...)
	if name := strings.ToLower(owner.Name); len(name) >= leastName && strings.Contains(small, name) {
		return wrong(field, "weak", "The new password has the name of the account in it. Choose another."), nil
	}
	score, err := strength.Of(password, words...)
	if err != nil {
		return nil, fmt.Errorf("check a new password: %w", err)
	}
	if score < strength.Fair {
		return wrong(field, "weak", "The new password is among those that are guessed first. Choose another, such as several words that do not belong together."), nil
	}
	return nil, nil // nothing is wrong
}
