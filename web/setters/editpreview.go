package setters

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/platform"
	"deepoj/host/problem"
	"deepoj/host/reading"
	"deepoj/web/site"
)

// changePreview is what a version would be with changes that are not saved.
type changePreview struct {
	Problem  *judge.Problem    // nil = the package would be refused
	Texts    map[string]string // statements, by language
	Refused  []problem.Finding
	Warnings []problem.Finding
}

// previewChange reads what changes would make of a version in a process of its own, as an
// import does, with the tests empty. Nothing is stored.
func (s *Room) previewChange(ctx context.Context, e save) (*changePreview, error) {
	pkg, rev, err := s.plan(ctx, e)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	select {
	case s.previews <- struct{}{}:
		defer func() { <-s.previews }()
	case <-ctx.Done():
		return nil, site.Refuse(fiber.StatusServiceUnavailable, "busy", "Too many previews are being made.", "Try again in a moment.")
	}
	file, err := platform.MemoryFile("preview")
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	defer file.Close()
	rev.Skim = true
	if err := pkg.Revise(ctx, &capped{w: file, left: maxPreviewed}, rev); err != nil {
		if errors.Is(err, errTooLong) {
			return nil, site.Refuse(fiber.StatusRequestEntityTooLarge, site.ReasonTooLong, "The package is too large for a preview.", "Save the change and look at the version.")
		}
		return nil, fmt.Errorf("preview: %w", err)
	}
	read, err := s.Config.Reader.Archive(ctx, file)
	defer func() { _ = read.Close() }()
	out := &changePreview{Warnings: read.Report.Warnings}
	if failed, ok := errors.AsType[*reading.FailureError](err); ok {
		out.Refused = []problem.Finding{{File: "package", Reason: failed.Why}}
		return out, nil
	}
	if _, ok := errors.AsType[*problem.Error](err); ok {
		out.Refused = problem.Findings(err)
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	read.Slug = e.Slug
	p := read.Judge()
	p.Version = ""
	out.Problem, out.Texts = &p, read.Statements
	return out, nil
}

// apiPreview handles POST /api/v1/problems/:slug/versions/:version/preview.
func (s *Room) apiPreview(c *fiber.Ctx) error {
	e, err := s.readEdit(c)
	if err != nil {
		return err
	}
	if _, err := s.packageVersion(c.UserContext(), e.Slug, e.Base); err != nil {
		return err
	}
	if err := s.MayChange(c.UserContext(), site.ViewerOf(c), e.Slug); err != nil {
		return err
	}
	p, err := s.previewChange(c.UserContext(), e)
	if err != nil {
		return err
	}
	return c.JSON(previewJSON{p.Problem, orNone(p.Texts), append([]problem.Finding{}, p.Refused...), append([]problem.Finding{}, p.Warnings...)})
}

// previewJSON is a preview as /api/v1 shows it.
type previewJSON struct {
	Problem    *judge.Problem    `json:"problem"` // null = the package would be refused
	Statements map[string]string `json:"statements"`
	Refused    []problem.Finding `json:"refused"`
	Warnings   []problem.Finding `json:"warnings"`
}

func orNone(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
