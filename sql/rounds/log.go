package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Logged is a line of a log with its numbers; 0 = those who are numbered are not told of it.
type Logged struct {
	Line
	Seq                int64
	At                 time.Time
	Public, Teams, Own int64
}

// Log returns the lines of a round's log behind a number, in order, at most limit.
func (s *Store) Log(ctx context.Context, round, after int64, limit int) ([]Logged, error) {
	found, err := s.q.ContestLog(ctx, s.db.Main, dbsqlc.ContestLogParams{RoundID: round, After: after, Max: int32(min(limit, 1_000_000))})
	if err != nil {
		return nil, fmt.Errorf("read the log of round %d: %w", round, err)
	}
	out := make([]Logged, len(found))
	for i, v := range found {
		out[i] = logged(v)
	}
	return out, nil
}

// Keep keeps what a line says of something, or that it is told of no more.
func Keep[K comparable, D any](in map[K]D, name K, l Logged) error {
	if l.Gone {
		delete(in, name)
		return nil
	}
	var d D
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	in[name] = d
	return nil
}

func logged(v dbsqlc.ContestLogRow) Logged {
	return Logged{
		Line: Line{Object{Kind: v.Kind, Object: v.Object, Data: v.Data, Audience: uint8(v.Audience), Only: v.OnlyParticipant}, v.Data == nil},
		Seq:  v.Seq, At: v.At, Public: v.PublicSeq, Teams: v.TeamsSeq, Own: v.OwnSeq,
	}
}

// Reader is who reads a log: whoever is told what audiences are, and what is for one participant alone.
type Reader struct {
	Audience    uint8 // bits of the log's audiences, without that of one alone
	Participant int64 // 0 = nobody
}

// Read returns the lines behind a number that somebody is told of, in order, at most limit.
func (s *Store) Read(ctx context.Context, round int64, r Reader, after int64, limit int) ([]Logged, error) {
	found, err := s.q.ContestRead(ctx, s.db.Main, dbsqlc.ContestReadParams{
		RoundID: round, After: after, Audience: int16(r.Audience), Participant: r.Participant, Max: int32(min(limit, 1_000_000)),
	})
	if err != nil {
		return nil, fmt.Errorf("read the log of round %d: %w", round, err)
	}
	out := make([]Logged, len(found))
	for i, v := range found {
		out[i] = logged(dbsqlc.ContestLogRow(v))
	}
	return out, nil
}

// Named returns the lines up to a number, and with it, that say what a round and its participants are, as somebody is told.
func (s *Store) Named(ctx context.Context, round int64, r Reader, until int64) ([]Logged, error) {
	found, err := s.q.ContestNamed(ctx, s.db.Main, dbsqlc.ContestNamedParams{RoundID: round, Until: until, Audience: int16(r.Audience), Participant: r.Participant})
	if err != nil {
		return nil, fmt.Errorf("read the names in round %d: %w", round, err)
	}
	out := make([]Logged, len(found))
	for i, v := range found {
		out[i] = logged(dbsqlc.ContestLogRow(v))
	}
	return out, nil
}

// Alone returns the lines for one participant and no other, in order.
func (s *Store) Alone(ctx context.Context, round, participant int64) ([]Logged, error) {
	found, err := s.q.ContestAlone(ctx, s.db.Main, dbsqlc.ContestAloneParams{RoundID: round, Participant: participant})
	if err != nil {
		return nil, fmt.Errorf("read what participant %d alone is told of round %d: %w", participant, round, err)
	}
	out := make([]Logged, len(found))
	for i, v := range found {
		out[i] = logged(dbsqlc.ContestLogRow(v))
	}
	return out, nil
}

// Place returns the number of the line that is so manyeth of those that everybody is told, that every team is told, and that
// one participant alone is told; 0 = none of these is asked about, and nothing comes before it. It is ErrNotFound where there
// is no such line.
func (s *Store) Place(ctx context.Context, round, public, teams, own, participant int64) (int64, error) {
	seq, err := s.q.ContestPlace(ctx, s.db.Main, dbsqlc.ContestPlaceParams{RoundID: round, PublicSeq: public, TeamsSeq: teams, OwnSeq: own, Participant: participant})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, pg.ErrNotFound
	case err != nil:
		return 0, fmt.Errorf("look for a place in the log of round %d: %w", round, err)
	}
	return seq, nil
}

// Told returns what was told last of some rounds themselves, by id. Of one that was just made nothing was.
func (s *Store) Told(ctx context.Context, rounds []int64) (map[int64][]byte, error) {
	found, err := s.q.ContestRounds(ctx, s.db.Main, rounds)
	if err != nil {
		return nil, fmt.Errorf("read what was told of rounds: %w", err)
	}
	out := map[int64][]byte{}
	for _, v := range found {
		out[v.RoundID] = v.Data
	}
	return out, nil
}

// Number returns the number of a job in its round; 0 = it has none yet.
func (s *Store) Number(ctx context.Context, job int64) (int64, error) {
	n, err := s.q.ContestNumberOf(ctx, s.db.Main, job)
	if err != nil {
		return 0, fmt.Errorf("look up the number of job %d: %w", job, err)
	}
	return n, nil
}

// Languages returns those in which something was handed in to a round, in order.
func (s *Store) Languages(ctx context.Context, round int64) ([]string, error) {
	out, err := s.q.ContestLanguages(ctx, s.db.Main, round)
	if err != nil {
		return nil, fmt.Errorf("list languages of round %d: %w", round, err)
	}
	return out, nil
}

// Numbers returns the jobs of submissions of a round and their numbers, from the one behind a number on, in order, at most limit.
func (s *Store) Numbers(ctx context.Context, round, after int64, limit int) (jobs, numbers []int64, err error) {
	found, err := s.q.ContestSources(ctx, s.db.Main, dbsqlc.ContestSourcesParams{RoundID: round, After: after, Max: int32(min(limit, 1_000_000))})
	if err != nil {
		return nil, nil, fmt.Errorf("list submissions of round %d: %w", round, err)
	}
	for _, v := range found {
		jobs, numbers = append(jobs, v.JobID), append(numbers, v.Number)
	}
	return jobs, numbers, nil
}

// Job returns which job a submission of a round is, by its number, or ErrNotFound.
func (s *Store) Job(ctx context.Context, round, number int64) (int64, error) {
	id, err := s.q.ContestJob(ctx, s.db.Main, dbsqlc.ContestJobParams{RoundID: round, Number: number})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, pg.ErrNotFound
	case err != nil:
		return 0, fmt.Errorf("look up submission %d of round %d: %w", number, round, err)
	}
	return id, nil
}

// Follow calls fn with the id of each round whose log has grown, and with 0 where any may have, until ctx ends.
func (s *Store) Follow(ctx context.Context, fn func(round int64)) error {
	return s.db.Listen(ctx, pg.ChannelRounds, func(payload string) {
		id, err := strconv.ParseInt(payload, 10, 64)
		if err != nil {
			id = 0
		}
		fn(id)
	})
}
