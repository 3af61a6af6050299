package site

import (
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
)

// LimitOf reads how many rows of a list are asked for.
func LimitOf(c *fiber.Ctx) (int, error) {
	text := c.Query("limit")
	if text == "" {
		return PageSize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxPage {
		return 0, WrongField("limit", ReasonInvalid, "The limit has to be a whole number from 1 to %d.", MaxPage)
	}
	return n, nil
}

// PageOf is the part of a whole list that is asked for, behind the row whose key the parameter named cursor has, and the
// cursor of the next part; nil = that was the last.
func PageOf[T any](c *fiber.Ctx, cursor string, all []T, key func(T) string) (page []T, next *string, err error) {
	limit, err := LimitOf(c)
	if err != nil {
		return nil, nil, err
	}
	begin := 0
	if behind := c.Query(cursor); behind != "" {
		at := slices.IndexFunc(all, func(row T) bool { return key(row) == behind })
		if at < 0 {
			return nil, nil, WrongField(cursor, ReasonUnknown, "%q is not in the list, or not any more. Begin again without the cursor.", Shorten(behind))
		}
		begin = at + 1
	}
	page = all[begin:min(begin+limit, len(all))]
	if begin+limit < len(all) {
		next = new(key(page[len(page)-1]))
	}
	return page, next, nil
}

// NextOf is the cursor behind a page of rows that was as long as it might be; nil = it was the last.
func NextOf[T any](page []T, limit int, id func(T) int64) *int64 {
	if len(page) < limit || len(page) == 0 {
		return nil
	}
	return new(id(page[len(page)-1]))
}
