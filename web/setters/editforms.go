package setters

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/draft"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/web/site"
)

// formText is a text of a form: forms send CRLF, whatever was typed.
func formText(c *fiber.Ctx, name string) string {
	return strings.ReplaceAll(c.FormValue(name), "\r\n", "\n")
}

// upload returns the file of a form, if one was chosen; otherwise the text.
func uploaded(c *fiber.Ctx, file, text string) ([]byte, string, error) {
	form, err := c.MultipartForm()
	if err != nil || len(form.File[file]) == 0 || form.File[file][0].Size == 0 {
		return []byte(formText(c, text)), "", nil //nolint:nilerr // a form without files is one
	}
	b, err := site.ReadFormFile(form.File[file][0])
	return b, form.File[file][0].Filename, err
}

// formChanges reads what a form of the editing page changes.
func formChanges(c *fiber.Ctx, pkg *problem.Package, names map[string]string) (ch draft.Changes, wrong site.WrongFields, err error) {
	act := c.FormValue("act")
	switch c.FormValue("part") {
	case "settings":
		ch, wrong = settingsForm(c, pkg, names)
	case "statement":
		ch.Statements = []draft.Statement{{Language: strings.TrimSpace(c.FormValue("language")), Format: c.FormValue("format"), Text: formText(c, "text"), Remove: act == "remove"}}
	case "tests":
		ch.Tests, err = testForm(c, act)
	case "submissions":
		var b []byte
		var name string
		b, name, err = uploaded(c, "file", "text")
		sub := draft.Submission{Place: c.FormValue("place"), Name: site.OrElse(strings.TrimSpace(c.FormValue("name")), name), To: c.FormValue("to"), Remove: act == "remove"}
		if text := string(b); act == "put" {
			sub.Text = &text
			if !utf8.ValidString(text) {
				wrong.Add(site.WrongField("text", site.ReasonEncoding, "The program is not UTF-8 text."))
			}
		}
		ch.Submissions = []draft.Submission{sub}
	case "checker":
		ch.Checker = &draft.Checker{Standard: c.FormValue("standard"), Flags: strings.Fields(c.FormValue("flags"))}
		if ch.Checker.Standard == "" {
			ch.Checker.Name, ch.Checker.Text = strings.TrimSpace(c.FormValue("name")), formText(c, "text")
		}
	case "files":
		f := draft.File{Path: strings.TrimSpace(c.FormValue("path")), Remove: act == "remove"}
		if act != "remove" {
			var b []byte
			var name string
			if b, name, err = uploaded(c, "file", "text"); name != "" && strings.HasSuffix(f.Path, "/") {
				f.Path += name
			}
			f.Base64 = append([]byte{}, b...)
		}
		ch.Files = []draft.File{f}
	default:
		wrong.Add(site.WrongField("part", site.ReasonUnknown, "There is no such part of a package."))
	}
	return ch, wrong, err
}

// testForm reads a test that is added, replaced or removed.
func testForm(c *fiber.Ctx, act string) ([]draft.Test, error) {
	t := draft.Test{Name: strings.TrimSpace(c.FormValue("name")), Remove: act == "remove", Command: strings.TrimSpace(c.FormValue("command"))}
	if act == "remove" || t.Command != "" {
		return []draft.Test{t}, nil
	}
	for name, to := range map[string]**string{"input": &t.Input, "answer": &t.Answer} {
		if c.FormValue("no-"+name) != "" {
			continue // a part that was too long to be shown stays
		}
		b, _, err := uploaded(c, name+"-file", name)
		if err != nil {
			return nil, err
		}
		text := string(b)
		*to = &text
	}
	if t.Answer != nil && *t.Answer == "" && c.FormValue("generated") != "" {
		t.Answer = nil
	}
	return []draft.Test{t}, nil
}

// settingsForm reads names, limits and languages: those that differ from the version's.
func settingsForm(c *fiber.Ctx, pkg *problem.Package, names map[string]string) (ch draft.Changes, wrong site.WrongFields) {
	var l draft.Limits
	text := strings.TrimSpace(c.FormValue("time"))
	if text == "" {
		zero := int64(0)
		if pkg.Limits.CPUFrom != problem.Inferred && pkg.Limits.CPUFrom != "default" {
			l.TimeMillis = &zero
		}
	} else if s, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(s) || s <= 0 || s > 600 {
		wrong.Add(site.WrongField("limits.time_ms", site.ReasonInvalid, "The time limit has to be a number of seconds up to 600, or empty."))
	} else if ms := int64(math.Round(s * 1000)); ms != pkg.Limits.CPU.Milliseconds() || pkg.Limits.CPUFrom == problem.Inferred || pkg.Limits.CPUFrom == "default" {
		l.TimeMillis = &ms
	}
	for _, limit := range []struct {
		name, field string
		is          int64
		to          **int64
	}{
		{"memory", "memory_mib", pkg.Limits.MemoryMiB, &l.MemoryMiB},
		{"output", "output_mib", pkg.Limits.OutputMiB, &l.OutputMiB},
		{"code", "code_kib", pkg.Limits.CodeKiB, &l.CodeKiB},
	} {
		text := strings.TrimSpace(c.FormValue(limit.name))
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case text == "" || err == nil && n == limit.is:
		case err != nil:
			wrong.Add(site.WrongField("limits."+limit.field, site.ReasonInvalid, "The limit has to be a whole number."))
		default:
			*limit.to = &n
		}
	}
	if l != (draft.Limits{}) {
		ch.Limits = &l
	}
	tags, values := site.FormValues(c, "name-language"), site.FormValues(c, "name")
	for i, tag := range tags {
		if tag = strings.TrimSpace(tag); i >= len(values) || tag == "" || strings.TrimSpace(values[i]) == names[tag] {
			continue
		}
		if ch.Names == nil {
			ch.Names = map[string]string{}
		}
		ch.Names[tag] = values[i]
	}
	if ids := strings.FieldsFunc(c.FormValue("languages"), func(r rune) bool { return r == ' ' || r == ',' }); !slices.Equal(ids, pkg.Languages) && !slices.Equal(pkg.Languages, []string{judge.AnswerLanguage}) {
		ch.Languages = &ids
	}
	return ch, wrong
}
