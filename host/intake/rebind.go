package intake

import (
	"context"
	"encoding/json"
	"fmt"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sql"
)

// The most submissions that a preview judges, and how many by default.
const (
	maxPreview     = 500
	defaultPreview = 50
)

// rebound returns the problem's active package checked by another plugin, and saves it, so that it can be judged.
func (x *Intake) rebound(ctx context.Context, slug string, by *judge.Plugin, c problem.Checker) (*judge.Problem, *problem.Package, error) {
	if by.Kind != string(abi.Checker) {
		return nil, nil, refuse("%s is a %s: only a checker decides on outputs", by.Name, by.Kind)
	}
	if !by.Conforms {
		return nil, nil, refuse("version %s of %s does not conform: mend what its report says, and upload it again", by.Version, by.Name)
	}
	before, pkg, err := x.problem(ctx, slug)
	if err != nil {
		return nil, nil, err
	}
	c.Protocol = by.Protocol
	pkg = pkg.Bind(c)
	if _, err := pkg.Save(ctx, x.cfg.Blobs); err != nil {
		return nil, nil, err
	}
	return before, pkg, nil
}

// bind makes a version of a problem that is checked by an uploaded plugin, and makes it live if the package's
// submissions prove it. A plugin that is active is bound by its name, so that the problem follows what is activated
// later; another stays what it is.
func (x *Intake) bind(ctx context.Context, job judge.Claim, p judge.PluginPayload, r *judge.PluginReport, result *judge.Result) error {
	if _, err := x.maker(ctx, p.By, p.Problem); err != nil {
		return err
	}
	kept, _, err := x.kept(ctx, p.Digest)
	if err != nil {
		return err
	}
	r.Plugin = kept
	c := problem.Checker{Digest: kept.Digest}
	r.Binding = "digest"
	if kept.Active {
		c = problem.Checker{Plugin: kept.Name}
		r.Binding = "name"
	}
	before, pkg, err := x.rebound(ctx, p.Problem, kept, c)
	if err != nil {
		return err
	}
	r.Version = string(pkg.Version)
	if before.Version == r.Version {
		r.Live = true
		return nil
	}
	if err := x.cfg.Store.KeepVersion(ctx, pkg.Judge(), p.By, 0); err != nil {
		return err
	}
	if err := x.cfg.Store.CopyPages(ctx, p.Problem, before.Version, r.Version); err != nil {
		return err
	}
	version := judge.PackageReport{Problem: p.Problem, Version: r.Version}
	live := sql.Activation{Problem: p.Problem, Version: r.Version, By: p.By, JobID: job.JobID}
	if err := x.proof(ctx, pkg, 0, &live, func(judge.Progress) {}, &version); err != nil {
		return err
	}
	if r.Live = version.Live; !r.Live {
		result.Verdict = judge.WA
		result.Message = "Submissions of the package do not get what they must with this checker. The version is kept with its report, and the problem stays as it is."
		return nil
	}
	detail := map[string]string{"checker": kept.Name, "digest": kept.Digest, "before": before.Version, "after": r.Version}
	return x.cfg.Store.AuditNote(ctx, p.By, "bind_checker", "problem:"+p.Problem, detail)
}

// preview judges past submissions of a problem with another checker and compares. What people see does not change.
func (x *Intake) preview(ctx context.Context, p judge.PluginPayload, progress func(judge.Progress), r *judge.PluginReport, result *judge.Result) error {
	kept, _, err := x.kept(ctx, p.Digest)
	if err != nil {
		return err
	}
	r.Plugin = kept
	_, pkg, err := x.rebound(ctx, p.Problem, kept, problem.Checker{Digest: kept.Digest})
	if err != nil {
		return err
	}
	past, err := x.past(ctx, p.Problem, p.Limit)
	if err != nil {
		return err
	}
	for _, id := range past {
		change, err := x.again(ctx, id, pkg.Version)
		if err != nil {
			return err
		}
		r.Checked++
		if change == nil {
			continue
		}
		r.Changes = append(r.Changes, *change)
		result.Verdict = judge.WA
		data, err := json.Marshal(change)
		if err != nil {
			return err
		}
		progress(judge.Progress{Kind: judge.EventFinding, Finding: data})
	}
	return nil
}

// past returns the newest submissions of a problem that have a verdict about the contestant's program.
func (x *Intake) past(ctx context.Context, slug string, limit int) ([]int64, error) {
	if limit <= 0 {
		limit = defaultPreview
	}
	limit = min(limit, maxPreview)
	var ids []int64
	f := sql.Filter{Problem: slug, Limit: 200}
	for {
		page, err := x.cfg.Store.Submissions(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			f.Before = s.JobID
			if s.Result == nil || s.Result.Verdict == judge.CE || len(ids) == limit {
				continue
			}
			ids = append(ids, s.JobID)
		}
		if len(page) < f.Limit || len(ids) == limit {
			return ids, nil
		}
	}
}

// again judges a submission once more and returns what would change, or nil.
func (x *Intake) again(ctx context.Context, id int64, version blob.Digest) (*judge.VerdictChange, error) {
	s, err := x.cfg.Store.Submission(ctx, id)
	if err != nil {
		return nil, err
	}
	if s.Result == nil {
		return nil, nil // it is being judged again just now
	}
	now, err := x.cfg.Judge.Judge(ctx, judge.Payload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: s.Problem, Language: s.Language, Sources: s.Sources,
	}, version, nil)
	if err != nil {
		return nil, fmt.Errorf("submission %d: %w", id, err)
	}
	if now.Verdict == s.Result.Verdict && same(now.Score, s.Result.Score) {
		return nil, nil
	}
	c := &judge.VerdictChange{
		JobID: id, Author: s.Author, Before: s.Result.Verdict, After: now.Verdict, BeforeScore: s.Result.Score, AfterScore: now.Score,
		Message: now.JudgeNote,
	}
	for i, t := range now.Tests {
		if i < len(s.Result.Tests) && t.Verdict == s.Result.Tests[i].Verdict && same(t.Score, s.Result.Tests[i].Score) {
			continue
		}
		c.Test = t.Name
		if t.Message+t.JudgeNote != "" {
			c.Message = t.Message + t.JudgeNote
		}
		break
	}
	return c, nil
}

func same(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
