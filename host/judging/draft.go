package judging

import (
	"context"
	"errors"
	"fmt"

	"deepoj/host/blob"
	"deepoj/host/judge"
)

// Draft executes a job of kind draft: it judges a program as [Judge.Judge] does, on
// the version of the problem that the payload names, whichever is live.
func (j *Judge) Draft(ctx context.Context, job judge.Claim, progress func(judge.Progress)) (judge.Result, error) {
	p, err := judge.DecodePayload(job.Payload)
	switch {
	case err != nil:
	case p.SchemaVersion != judge.PayloadVersion || p.ContentType != judge.DraftType:
		err = fmt.Errorf("schema_version %d and content_type %q are unknown", p.SchemaVersion, p.ContentType)
	case p.Version == "" || p.Language == "" || len(p.Sources) == 0:
		err = errors.New("version, language or sources are missing")
	}
	if err != nil {
		return judge.Result{}, fmt.Errorf("payload of a draft submission: %w", err)
	}
	r, err := j.Judge(ctx, p, blob.Digest(p.Version), progress)
	if err != nil {
		return judge.Result{}, err
	}
	if !r.Verdict.Final() {
		return judge.Result{}, fmt.Errorf("judging ended without a verdict (%q): %s", r.Verdict, r.JudgeNote)
	}
	r.Worker = job.Owner
	return r, nil
}
