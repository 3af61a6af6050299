package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/reading"
	"deepoj/host/verify"
	"deepoj/sql"
)

// Package does what a job of kind import or verify asks for, and tells progress of each step and of each row of the
// proof. The result's verdict is AC when the version is proved, WA when its proof found something, and JE when there is
// no version.
func (x *Intake) Package(ctx context.Context, job judge.Claim, progress func(judge.Progress)) (judge.Result, error) {
	var p judge.PackagePayload
	err := json.Unmarshal(job.Payload, &p)
	if err == nil && (p.SchemaVersion != judge.PayloadVersion || p.ContentType != judge.PackageType) {
		err = fmt.Errorf("schema_version %d and content_type %q are unknown", p.SchemaVersion, p.ContentType)
	}
	if err != nil {
		return judge.Result{}, fmt.Errorf("payload of a job about a package: %w", err)
	}
	r := judge.PackageReport{Problem: p.Problem}
	result := judge.Result{Verdict: judge.AC}
	pkg, err := x.version(ctx, job, p, progress, &r)
	if err == nil && p.Instead != "" {
		err = x.cfg.Store.PinInstead(ctx, p.Problem, p.Instead, r.Version)
	}
	if err == nil {
		err = x.proveVersion(ctx, job, p, pkg, progress, &r)
	}
	switch no, refused := errors.AsType[*refusal](err); {
	case refused:
		result.Verdict, result.Message, r.Error = judge.JE, no.why, no.why
	case err != nil:
		return judge.Result{}, fmt.Errorf("%s package %s: %w", job.Kind, p.Problem, err)
	case !r.Proof.OK():
		result.Verdict = judge.WA
	}
	result.Report, err = json.Marshal(r)
	return result, err
}

// version returns the version that a job is about, saved and recorded.
func (x *Intake) version(ctx context.Context, job judge.Claim, p judge.PackagePayload, progress func(judge.Progress), r *judge.PackageReport) (*problem.Package, error) {
	made := p.Version
	if job.Kind == judge.KindImport {
		var err error
		if made, err = x.cfg.Store.VersionOfImport(ctx, job.JobID); err != nil {
			return nil, err
		}
		if made == "" {
			return x.take(ctx, job, p, progress, r)
		}
		// An attempt before this one made it. Another might find another time limit.
	}
	r.Version = made
	pkg, err := problem.Load(ctx, x.cfg.Blobs, blob.Digest(made))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, refuse("version %s of %s is not kept any more: import the package again", made, p.Problem)
	}
	if err != nil {
		return nil, err
	}
	r.Binding = stays(pkg)
	if err := x.cfg.Store.KeepFiles(ctx, p.Problem, made, stored(pkg)); err != nil { // of one from before, they may not be noted
		return nil, err
	}
	if job.Kind == judge.KindImport { // whose attempt before may not have come so far
		tellDrawing(pkg, progress)
		lost, err := x.renderAgain(ctx, sql.Rendered{Problem: p.Problem, Version: made}, job.JobID)
		r.Warnings = append(r.Warnings, warned(lost)...)
		return pkg, err
	}
	return pkg, nil
}

// take reads an archive and keeps the version that it makes.
func (x *Intake) take(ctx context.Context, job judge.Claim, p judge.PackagePayload, progress func(judge.Progress), r *judge.PackageReport) (*problem.Package, error) {
	u, err := x.maker(ctx, p.By, p.Problem)
	if err != nil {
		return nil, err
	}
	tellJSON(progress, judge.EventStage, verify.Stage{Step: "read"})
	archive, err := x.cfg.Blobs.File(ctx, blob.Digest(p.Archive))
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	read, err := x.cfg.Reader.Archive(ctx, archive) // which is there with an error too
	defer func() { _ = read.Close() }()
	r.Warnings = read.Report.Warnings
	if err != nil {
		return nil, x.unread(err, r)
	}
	pkg := read.Package
	r.Warnings = append(r.Warnings, pkg.Give(p.Problem, p.Given)...)
	if err := x.fits(ctx, u, pkg); err != nil {
		return nil, err
	}
	if _, err := pkg.Save(ctx, x.cfg.Blobs); ctx.Err() != nil {
		return nil, context.Cause(ctx) // which is why the files could not be read
	} else if problem.Unreadable(err) {
		return nil, refuse("the archive is damaged: %v", err)
	} else if err != nil {
		return nil, err
	}
	if pkg, err = x.carried(ctx, pkg, r); err != nil {
		return nil, err
	}
	finished, err := verify.Finish(ctx, verify.Config{Judge: x.cfg.Judge, Stage: staged(progress)}, pkg)
	if verify.AtFault(err) {
		return nil, refuse("%v", err)
	}
	if err != nil {
		return nil, err
	}
	if err := x.fits(ctx, u, finished); err != nil { // with the tests that were made
		return nil, err
	}
	if rights, err := x.cfg.Store.ClaimProblem(ctx, p.Problem, p.By); err != nil {
		return nil, err
	} else if u.bound && !rights.MayChange() { // somebody was faster
		return nil, notTheirs(p.By, p.Problem)
	}
	r.Version = string(finished.Version)
	if err := Keep(ctx, x.cfg.Store, finished, p.By, job.JobID); err != nil {
		return nil, err
	}
	tellDrawing(finished, progress)
	lost, err := x.drawPages(ctx, finished, read.Report.OfStatements(), job.JobID)
	r.Warnings = append(r.Warnings, warned(lost)...)
	return finished, err
}

// tellDrawing says that the pages of a version are made, if something must be drawn.
func tellDrawing(pkg *problem.Package, progress func(judge.Progress)) {
	if n := len(pkg.Pictures) + len(pkg.Documents); n > 0 {
		tellJSON(progress, judge.EventStage, verify.Stage{Step: "draw", Total: n})
	}
}

// unread says why a package could not be read, if that is its own fault.
func (x *Intake) unread(err error, r *judge.PackageReport) error {
	if failed, ok := errors.AsType[*reading.FailureError](err); ok {
		return refuse("%s", failed.Why)
	}
	if _, ok := errors.AsType[*problem.Error](err); !ok {
		return err
	}
	r.Refused = problem.Findings(err)
	return refuse("the package is refused: its reasons are listed")
}

// proveVersion judges the submissions of the version that a job is about, and records
// what came of it. A version that is proved goes live, if that was asked for.
func (x *Intake) proveVersion(ctx context.Context, job judge.Claim, p judge.PackagePayload, pkg *problem.Package, progress func(judge.Progress), r *judge.PackageReport) error {
	var live *sql.Activation
	if p.Activate {
		live = &sql.Activation{Problem: p.Problem, Version: r.Version, By: p.By, JobID: job.JobID}
	}
	return x.proof(ctx, pkg, job.JobID, live, progress, r)
}

// proof judges the submissions of a kept version and records what came of it, as the
// proof of a job that pages show, or of none. If the proof finds nothing wrong, or
// that is overridden, the version goes live as live says; nil is not at all.
func (x *Intake) proof(ctx context.Context, pkg *problem.Package, jobID int64, live *sql.Activation, progress func(judge.Progress), r *judge.PackageReport) error {
	report, err := verify.Run(ctx, verify.Config{Judge: x.cfg.Judge, Stage: staged(progress), Done: func(row judge.ProofRow) {
		tellJSON(progress, judge.EventFinding, map[string]any{"row": shortened(row)})
	}}, pkg)
	if err != nil {
		return err
	}
	for i, row := range report.Rows {
		report.Rows[i] = shortened(row)
	}
	if len(report.Rows) == 0 {
		report.Faults = append(report.Faults, "submissions: there are none, so nothing is proved: put a program into submissions/accepted")
	}
	if fault, err := x.leaks(ctx, pkg); err != nil {
		return err
	} else if fault != "" {
		report.Faults = append(report.Faults, fault)
	}
	if r.Binding != nil {
		report.Notes = append(report.Notes, capital(r.Binding.Why)+".")
	}
	r.Proof = &report
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := x.cfg.Store.ProveVersion(ctx, r.Problem, r.Version, report.OK(), data, jobID); err != nil {
		return err
	}
	if live == nil || !report.OK() && !live.Override {
		return nil
	}
	r.Live = true
	return x.cfg.Store.ActivateVersion(ctx, *live)
}

// leaks says which uploaded checker keeps a package from telling everybody what its
// checkers say, though it asks for that; "" if none does.
func (x *Intake) leaks(ctx context.Context, pkg *problem.Package) (string, error) {
	if pkg.CheckerMessages != judge.ToldAll {
		return "", nil
	}
	uploaded, err := x.cfg.Store.Plugins(ctx, "", "")
	if err != nil {
		return "", err
	}
	all := slices.Clone(pkg.Checkers)
	if pkg.Interactor != nil {
		all = append(all, *pkg.Interactor)
	}
	for _, c := range all {
		discreet := func(p judge.Plugin) bool {
			return p.Leaks != nil && !*p.Leaks && (p.Digest == c.Digest || p.Active && p.Name == c.Plugin)
		}
		if c.Standard == "" && !slices.ContainsFunc(uploaded, discreet) {
			return fmt.Sprintf("deepoj.yaml: checker_messages: is all, and no report shows that %s gives no answer away: choose samples, or mend what its report calls leak, "+
				"and have it tested again with a problem", c.Name()), nil
		}
	}
	return "", nil
}

// Import keeps and proves a version without a job, of a package that is saved and finished. It goes live if it is
// proved, or if override says so, which is noted as done by somebody. Progress is told as that of [Intake.Package] is.
func (x *Intake) Import(ctx context.Context, pkg *problem.Package, by string, override bool, progress func(judge.Progress)) (judge.PackageReport, error) {
	r := judge.PackageReport{Problem: pkg.Slug}
	pkg, err := x.carried(ctx, pkg, &r)
	if err != nil {
		return r, err
	}
	r.Version = string(pkg.Version)
	if err := Keep(ctx, x.cfg.Store, pkg, by, 0); err != nil {
		return r, err
	}
	tellDrawing(pkg, progress)
	if _, err := x.renderAgain(ctx, sql.Rendered{Problem: r.Problem, Version: r.Version}, 0); err != nil {
		return r, fmt.Errorf("make the pages of %s: %w", pkg.Slug, err)
	}
	live := sql.Activation{Problem: r.Problem, Version: r.Version, By: by, Override: override}
	if err := x.proof(ctx, pkg, 0, &live, progress, &r); err != nil {
		return r, fmt.Errorf("prove %s: %w", pkg.Slug, err)
	}
	return r, nil
}

// maxMessage bounds what a row of a kept proof says, in bytes.
const maxMessage = 2000

// shortened is a row without the endless words of a compiler.
func shortened(row judge.ProofRow) judge.ProofRow {
	for _, text := range []*string{&row.Message, &row.Problem, &row.Skipped, &row.Warning} {
		if len(*text) > maxMessage {
			*text = string([]rune((*text)[:maxMessage])) + "…"
		}
	}
	return row
}

// staged tells how far each step is.
func staged(progress func(judge.Progress)) func(verify.Stage) {
	return func(s verify.Stage) { tellJSON(progress, judge.EventStage, s) }
}

func tellJSON(progress func(judge.Progress), kind judge.EventKind, what any) {
	data, err := json.Marshal(what)
	if err != nil {
		return // plain strings and numbers always encode
	}
	progress(judge.Progress{Kind: kind, Finding: data})
}
