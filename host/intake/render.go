package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/reading"
	"deepoj/host/verify"
	"deepoj/sql"
)

// The rows that the report of a rendering has at most, and how often its progress is told.
const (
	maxRendered  = 500
	toldRendered = 100
)

// Render does what a job of kind render asks for: it reads kept versions again, in the bounded process that reads
// packages, and puts their pages in the place of those before. Versions, their digests and proofs stay as they are.
// Each version is done by itself: another try of the job goes on with those that are left. The result's verdict is AC,
// or WA if a version could not be rendered, whose pages stay.
func (x *Intake) Render(ctx context.Context, job judge.Claim, progress func(judge.Progress)) (judge.Result, error) {
	p := judge.ReadRender(job.Payload)
	if p == nil {
		return judge.Result{}, errors.New("payload of a rendering: schema_version or content_type is unknown")
	}
	all, err := x.cfg.Store.Renderings(ctx, p.Problems...)
	if err != nil {
		return judge.Result{}, err
	}
	all = slices.DeleteFunc(all, func(v sql.Rendered) bool {
		return p.Due && v.Renderer >= problem.Renderer && v.JobID != job.JobID
	})
	r := judge.RenderReport{Versions: len(all), Renderer: problem.Renderer}
	tellJSON(progress, judge.EventStage, verify.Stage{Step: "render", Total: len(all)})
	for i, v := range all {
		if v.JobID != job.JobID {
			err := x.renderOne(ctx, v, job.JobID, &r)
			if ctx.Err() != nil {
				return judge.Result{}, context.Cause(ctx)
			}
			if err != nil {
				return judge.Result{}, fmt.Errorf("render version %s of %s: %w", v.Version, v.Problem, err)
			}
		} else { // a try before this one did it
			r.Rendered++
		}
		if (i+1)%max(1, len(all)/toldRendered) == 0 || i+1 == len(all) {
			tellJSON(progress, judge.EventStage, verify.Stage{Step: "render", Done: i + 1, Total: len(all), What: v.Problem})
		}
	}
	result := judge.Result{Verdict: judge.AC}
	if len(r.Failed) > 0 {
		result.Verdict = judge.WA
	}
	result.Report, err = json.Marshal(r)
	return result, err
}

// renderOne renders a version into the report. The error is a failure of the platform.
func (x *Intake) renderOne(ctx context.Context, v sql.Rendered, jobID int64, r *judge.RenderReport) error {
	said, err := x.renderAgain(ctx, v, jobID)
	row := judge.RenderedRow{Problem: v.Problem, Version: v.Version, Warnings: said}
	rows := &r.Warned
	switch why, at := renderFault(err); {
	case at:
		row.Why, rows = why, &r.Failed
	case err != nil:
		return err
	default:
		if r.Rendered++; len(said) == 0 {
			return nil
		}
	}
	if len(r.Failed)+len(r.Warned) >= maxRendered && (rows == &r.Warned || len(r.Failed) > 0) {
		r.More++
		return nil
	}
	*rows = append(*rows, row)
	return nil
}

// renderFault says why a version cannot be rendered, if that is its own fault.
func renderFault(err error) (why string, is bool) {
	if failed, ok := errors.AsType[*reading.FailureError](err); ok {
		return failed.Why, true
	}
	if _, ok := errors.AsType[*problem.Error](err); ok {
		return err.Error(), true
	}
	if no, ok := errors.AsType[*refusal](err); ok {
		return no.why, true
	}
	return "", false
}

// renderAgain makes the pages of a kept version of what is kept of its package.
func (x *Intake) renderAgain(ctx context.Context, v sql.Rendered, jobID int64) (warnings []string, err error) {
	pkg, err := problem.Load(ctx, x.cfg.Blobs, blob.Digest(v.Version))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, refuse("the version is not kept any more: import the package again")
	}
	if err != nil {
		return nil, err
	}
	archive, err := x.cfg.Judge.Scratch()
	if err != nil {
		return nil, err
	}
	defer archive.Close() // it has no name
	if err := pkg.Skeleton(ctx, archive); errors.Is(err, blob.ErrNotFound) {
		return nil, refuse("a file of the version is not kept any more: %v", err)
	} else if err != nil {
		return nil, err
	}
	read, err := x.cfg.Reader.Statements(ctx, archive)
	defer func() { _ = read.Close() }()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if _, at := renderFault(err); at && !pkg.HasStatement() {
		return nil, savePages(ctx, x.cfg.Store, pkg, judge.Rendering{Renderer: problem.Renderer}, jobID)
	}
	if err != nil {
		return nil, err
	}
	if pkg.HasStatement() && !read.HasStatement() {
		return nil, refuse("no statement is found any more in the files that are kept of the version: its pages stay as they are")
	}
	shown, err := x.reread(ctx, pkg, read.Package)
	if err != nil {
		return nil, err
	}
	made, err := pages(ctx, x.cfg.Judge, shown)
	if err != nil {
		return nil, err
	}
	made.Warnings = append(sentences(read.Report), made.Warnings...)
	return made.Warnings, savePages(ctx, x.cfg.Store, shown, made, jobID)
}

// reread returns a kept version with statements, pictures and PDFs as they were read
// again. Files that reading makes are stored.
func (x *Intake) reread(ctx context.Context, kept, read *problem.Package) (*problem.Package, error) {
	digests := map[string]blob.Digest{}
	for _, f := range kept.Files {
		digests[f.Path] = f.Digest
	}
	find := func(f *problem.File) error {
		if problem.Derived(f.Path) {
			stored, err := store(ctx, kept, read, *f)
			*f = stored
			return err
		}
		if f.Digest = digests[f.Path]; f.Digest == "" {
			return &reading.FailureError{Why: fmt.Sprintf("the reader's answer names a file that is not there: %q", f.Path)}
		}
		return nil
	}
	shown := *kept
	shown.Statement, shown.Statements, shown.Pictures, shown.Documents = read.Statement, read.Statements, slices.Clone(read.Pictures), slices.Clone(read.Documents)
	if shown.Titles = read.Titles; read.Title != "" {
		shown.Title = read.Title
	}
	for i := range shown.Pictures {
		if err := find(&shown.Pictures[i].File); err != nil {
			return nil, err
		}
	}
	for i := range shown.Documents {
		if err := find(&shown.Documents[i]); err != nil {
			return nil, err
		}
	}
	return &shown, nil
}

// store stores a file that reading made.
func store(ctx context.Context, to, from *problem.Package, f problem.File) (problem.File, error) {
	r, err := from.Open(ctx, f)
	if err != nil {
		return problem.File{}, err
	}
	stored, err := to.Put(ctx, f.Path, io.LimitReader(r, f.Size))
	return stored, errors.Join(err, r.Close())
}
