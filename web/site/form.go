package site

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// FormField is a field of a form, as it was filled in.
type FormField struct{ Name, Value string }

// FormOf reads the fields of a form, without files.
func FormOf(c *fiber.Ctx) url.Values {
	form := url.Values{}
	if m, err := c.MultipartForm(); err == nil {
		maps.Copy(form, m.Value)
		return form
	}
	c.Request().PostArgs().VisitAll(func(name, value []byte) { form.Add(string(name), string(value)) })
	return form
}

// FormFields are the fields of a form, but for what belongs to a session and those that are named.
func FormFields(form url.Values, without ...string) (out []FormField) {
	for name, values := range form {
		if name == "csrf" || slices.Contains(without, name) {
			continue
		}
		for _, value := range values {
			out = append(out, FormField{name, value})
		}
	}
	slices.SortStableFunc(out, func(a, b FormField) int { return strings.Compare(a.Name, b.Name) })
	return out
}
