package pg

import "errors"

// Errors that the stores share; sql says what they mean.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("already exists")
	ErrInUse    = errors.New("in use")
)

// Bounded is a page's length: 1 to 200, 50 by default.
func Bounded(limit int) int32 {
	if limit <= 0 {
		return 50
	}
	return int32(min(limit, 200))
}
