package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// WorkerBeat records that a worker lives.
func (q *Queue) WorkerBeat(ctx context.Context, w judge.WorkerInfo) error {
	info, err := pg.Encode(w)
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.Name, err)
	}
	languages := make([]string, 0, len(w.Languages))
	for _, l := range w.Languages {
		if l.Available {
			languages = append(languages, l.ID)
		}
	}
	err = dbsqlc.New().WorkerBeat(ctx, q.db.Main, dbsqlc.WorkerBeatParams{
		Name: w.Name, Pool: pg.OrDefault(w.Pool, judge.DefaultPool), Languages: languages, Info: info, StartedAt: w.Started,
	})
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.Name, err)
	}
	return nil
}

// WorkerGone forgets a worker that stopped.
func (q *Queue) WorkerGone(ctx context.Context, name string) error {
	if err := dbsqlc.New().WorkerGone(ctx, q.db.Main, name); err != nil {
		return fmt.Errorf("forget worker %s: %w", name, err)
	}
	return nil
}

// OfferLanguages adds the languages that a worker is able to judge to those that
// programs may be handed in in, or refreshes them. What staff took off stays off.
func (q *Queue) OfferLanguages(ctx context.Context, languages []judge.Language) error {
	able := slices.DeleteFunc(slices.Clone(languages), func(l judge.Language) bool { return !l.Available || l.ID == "" })
	if len(able) == 0 {
		return nil
	}
	data, err := pg.Encode(able)
	if err == nil {
		err = dbsqlc.New().LanguagesOffer(ctx, q.db.Main, data)
	}
	if err != nil {
		return fmt.Errorf("offer languages: %w", err)
	}
	return nil
}

// Workers returns the workers that were seen within maxAge, by name. Seen is the database's time.
func (q *Queue) Workers(ctx context.Context, maxAge time.Duration) ([]judge.WorkerInfo, error) {
	return Workers(ctx, q.db, maxAge)
}

// Workers is [Queue.Workers] for who has the connection.
func Workers(ctx context.Context, db *pg.DB, maxAge time.Duration) ([]judge.WorkerInfo, error) {
	found, err := dbsqlc.New().WorkerList(ctx, db.Main, pg.Interval(maxAge, 0))
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	out := make([]judge.WorkerInfo, len(found))
	for i, w := range found {
		if err := json.Unmarshal(w.Info, &out[i]); err != nil {
			return nil, fmt.Errorf("list workers: %w", err)
		}
		out[i].Seen = w.SeenAt
	}
	return out, nil
}
