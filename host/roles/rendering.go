package roles

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/problem"
	"deepoj/sql"
)

// renderEvery is how often a worker looks whether statements may be rendered again.
const renderEvery = time.Minute

// renderOnce has the pages of versions made again that an older renderer made, once for
// each renderer: whoever comes first orders the job, and what became of it, people
// decide. It waits until every worker is of this version, for others could not do it.
func renderOnce(ctx context.Context, b *base, wake func(), every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		done, err := orderRendering(ctx, b, wake)
		if err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "statements are not rendered again yet", slog.Any("err", err))
		}
		if done && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// orderRendering orders that job if it is due. Done says that there is no more to do.
func orderRendering(ctx context.Context, b *base, wake func()) (done bool, err error) {
	due, err := b.db.Site.RenderingDue(ctx, problem.Renderer)
	if err != nil || !due {
		return !due, err
	}
	workers, err := b.db.Site.Workers(ctx, liveness.DefaultAge)
	if err != nil {
		return false, err
	}
	for _, w := range workers {
		if w.Version != b.Version {
			return false, nil
		}
	}
	const by = "deepoj"
	payload, err := json.Marshal(judge.RenderPayload{SchemaVersion: judge.PayloadVersion, ContentType: judge.RenderType, By: by, Due: true})
	if err != nil {
		return false, err
	}
	receipt, err := b.db.Site.Submit(ctx, sql.NewJob{
		Kind: judge.KindRender, Author: by, GroupKey: by, Payload: payload, IdempotencyKey: fmt.Sprintf("render-%d", problem.Renderer), Lane: judge.LaneBatch,
	})
	if err != nil {
		return false, err
	}
	if !receipt.Existing {
		b.log.InfoContext(ctx, "statements are rendered again, because this version renders them better", slog.Int64("job_id", receipt.JobID))
		wake()
	}
	return true, nil
}
