package solve

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// FormProgram reads the form of a problem's page. Files go before texts. Of several
// files or texts each has its name, and a text that is empty is not meant.
func FormProgram(c *fiber.Ctx) (Program, error) {
	in := Program{Problem: c.Params("slug"), Space: c.Params("space"), Round: c.Params("round"), Language: c.FormValue("language"), Key: c.FormValue("key"), Fields: formFields}
	files, err := formFiles(c)
	if err != nil {
		return in, err
	}
	names := site.FormValues(c, "name")
	for i, text := range site.FormValues(c, "source") {
		if len(files) > 0 || i > 0 && strings.TrimSpace(text) == "" {
			continue
		}
		source := judge.Source{Text: text}
		if i < len(names) {
			source.Name = strings.TrimSpace(names[i])
		}
		in.Sources = append(in.Sources, source)
	}
	if len(in.Sources) > 1 && strings.TrimSpace(in.Sources[0].Text) == "" {
		in.Sources = in.Sources[1:]
	}
	in.Sources = append(in.Sources, files...)
	if len(in.Sources) == 1 { // what a single file is called the language decides
		in.Sources[0].Name = ""
	}
	for i := range in.Sources {
		in.Sources[i].Text = strings.ReplaceAll(in.Sources[i].Text, "\r\n", "\n") // forms send CRLF, whatever was typed
	}
	return in, nil
}

// formProgram is FormProgram of a page that whoever sends it may see.
func (s *Room) formProgram(c *fiber.Ctx) (Program, error) {
	if c.Params("round") != "" {
		if _, err := s.roundDesk(c); err != nil {
			return Program{}, err
		}
	}
	return FormProgram(c)
}

// formFiles reads the files of a form. A browser sends an empty one where none was chosen.
func formFiles(c *fiber.Ctx) (files []judge.Source, err error) {
	form, err := c.MultipartForm()
	if err != nil {
		return nil, nil //nolint:nilerr // a form without files is one
	}
	for _, header := range form.File["file"] {
		if header.Size == 0 {
			continue
		}
		body, err := site.ReadFormFile(header)
		if err != nil {
			return nil, err
		}
		files = append(files, judge.Source{Name: path.Base(header.Filename), Text: string(body)})
	}
	return files, nil
}

// submitForm handles POST /problems/:slug, and the same in a space. The submission and its queue row are
// committed before the answer, so the redirect is a promise.
func (s *Room) submitForm(c *fiber.Ctx) error {
	in, err := s.formProgram(c)
	if err != nil {
		return err
	}
	receipt, err := s.Accept(c.UserContext(), site.ViewerOf(c), in)
	var f *site.Fault
	var field *judge.FieldError
	if errors.As(err, &f) && f.Field != "" && f.Field != formFields.Problem || errors.As(err, &field) && field.Field != formFields.Problem {
		return s.problemAgain(c, in, *s.Explain(c.UserContext(), err))
	}
	if err != nil {
		return err
	}
	return c.Redirect("/submissions/"+strconv.FormatInt(receipt.JobID, 10), fiber.StatusSeeOther)
}
