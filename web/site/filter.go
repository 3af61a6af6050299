package site

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
)

// How many rows a list shows, unless another number is asked for, and at most.
const (
	PageSize = 50
	MaxPage  = 200
)

// PlainWord reports whether text may be a name that people chose: the database takes no NUL and no broken UTF-8.
func PlainWord(text string) bool {
	return text != "" && len(text) <= 128 && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// FilterOf reads the filter of a list. Contestants see their own submissions.
func FilterOf(c *fiber.Ctx) (sql.Filter, error) {
	f, err := ReadFilter(c)
	if v := ViewerOf(c); err == nil && !v.Staff() {
		return OwnOnly(v, f)
	}
	return f, err
}

// OwnOnly narrows a filter to the viewer's own submissions.
func OwnOnly(v Viewer, f sql.Filter) (sql.Filter, error) {
	if f.Author != "" && f.Author != v.Name {
		return f, Refuse(fiber.StatusForbidden, "forbidden", "You see only your own submissions.", "")
	}
	f.Author = v.Name
	return f, nil
}

// ReadFilter reads a filter as it was sent.
func ReadFilter(c *fiber.Ctx) (sql.Filter, error) {
	f := sql.Filter{
		Author: c.Query("author"), Problem: c.Query("problem"), Language: c.Query("language"),
		Verdict: judge.Verdict(c.Query("verdict")), Limit: PageSize,
	}
	var wrong WrongFields
	for name, value := range map[string]string{"author": f.Author, "problem": f.Problem, "language": f.Language} {
		if value != "" && !PlainWord(value) {
			wrong.Add(WrongField(name, ReasonInvalid, "The value is not a name."))
		}
	}
	if f.Verdict != "" && !f.Verdict.Valid() {
		wrong.Add(WrongField("verdict", ReasonUnknown, "There is no verdict %q.", Shorten(string(f.Verdict))))
	}
	if text := c.Query("before"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			wrong.Add(WrongField("before", ReasonInvalid, "The cursor has to be a positive whole number."))
		}
		f.Before = n
	}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > MaxPage {
			wrong.Add(WrongField("limit", ReasonInvalid, "The limit has to be a whole number from 1 to %d.", MaxPage))
		}
		f.Limit = n
	}
	return f, wrong.Err()
}

// IDOf reads the number that the address names.
func IDOf(c *fiber.Ctx) (int64, error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, sql.ErrNotFound
	}
	return id, nil
}

// FlagOf reads a query parameter that is true or false.
func FlagOf(c *fiber.Ctx, name string) (bool, error) {
	text := c.Query(name)
	if text == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, WrongField(name, ReasonInvalid, "The parameter has to be true or false, not %q.", Shorten(text))
	}
	return on, nil
}

// OrElse returns text, or other if it is empty.
func OrElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// OrNull is a text, or null where it is empty.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// UserFilterOf reads the filter of the list of accounts.
func UserFilterOf(c *fiber.Ctx) (sql.UserFilter, error) {
	f := sql.UserFilter{Prefix: c.Query("prefix"), Role: judge.Role(c.Query("role")), After: c.Query("after"), Limit: PageSize}
	var wrong WrongFields
	for name, value := range map[string]string{"prefix": f.Prefix, "after": f.After} {
		if value != "" && !PlainWord(value) {
			wrong.Add(WrongField(name, ReasonInvalid, "The value is not a name."))
		}
	}
	if f.Role != "" {
		wrong.Add(people.CheckRole(f.Role))
	}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > MaxPage {
			wrong.Add(WrongField("limit", ReasonInvalid, "The limit has to be a whole number from 1 to %d.", MaxPage))
		}
		f.Limit = n
	}
	return f, wrong.Err()
}
