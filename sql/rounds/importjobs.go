package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// atOnce is how many rows are sent at once.
const atOnce = 5000

func (i *importing) submissions() error {
	for part := range slices.Chunk(i.past.Submissions, atOnce) {
		if err := i.handIn(part); err != nil {
			return err
		}
	}
	return nil
}

// handIn stores submissions with their results.
func (i *importing) handIn(list []PastSubmission) error {
	ids, err := i.s.q.ImportJobIDs(i.ctx, i.tx, int32(len(list)))
	if err != nil {
		return err
	}
	slices.Sort(ids)
	now := i.past.Round.Now
	rows := imported{number: dbsqlc.ContestNumberParams{RoundID: i.id}, unjudged: dbsqlc.ImportUnjudgedParams{By: i.by}}
	for k := range list {
		v := &list[k]
		participant, err := i.participant(v.Participant)
		if err != nil {
			return err
		}
		payload, err := judge.Payload{
			SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: v.Problem, Language: v.Language, Sources: v.Sources,
		}.Encode()
		if err != nil {
			return err
		}
		bytes := 0
		for _, source := range v.Sources {
			bytes += len(source.Text)
		}
		rows.payloads = append(rows.payloads, dbsqlc.ImportPayloadsParams{
			JobID: ids[k], Payload: payload, Problem: &v.Problem, CodeBytes: int32(bytes), SpaceID: &i.space, RoundID: &i.id, ParticipantID: &participant,
		})
		rows.number.JobIds, rows.number.Numbers = append(rows.number.JobIds, ids[k]), append(rows.number.Numbers, v.Number)
		if err := rows.add(v, ids[k], fmt.Sprintf("p:%d", participant), now); err != nil {
			return err
		}
	}
	if err := i.store(&rows); err != nil {
		return err
	}
	for k, v := range list {
		if !v.Token {
			continue
		}
		add := dbsqlc.TokenAddParams{By: i.by, At: &v.At, JobID: ids[k], RoundID: i.id, Participant: i.people[v.Participant]}
		if _, err := i.s.q.TokenAdd(i.ctx, i.tx, add); err != nil {
			return err
		}
	}
	return nil
}

// imported are the rows of some submissions.
type imported struct {
	jobs     []dbsqlc.ImportJobsParams
	payloads []dbsqlc.ImportPayloadsParams
	results  []dbsqlc.ImportResultsParams
	number   dbsqlc.ContestNumberParams
	judged   dbsqlc.ImportJudgedParams
	unjudged dbsqlc.ImportUnjudgedParams
}

// add adds a job and its results.
func (r *imported) add(v *PastSubmission, id int64, group string, now time.Time) error {
	const tries = 5
	job := dbsqlc.ImportJobsParams{
		JobID: id, Queue: judge.DefaultQueue, GroupKey: group, Language: v.Language, MaxTries: tries, CreatedAt: v.At, NotBefore: v.At,
		Status: string(judge.Cancelled), Generation: 1, FinishedAt: &now,
	}
	if len(v.Judgings) == 0 {
		r.unjudged.JobIds = append(r.unjudged.JobIds, id)
	}
	for k, j := range v.Judgings {
		generation, attempt := int32(j.Generation), int32(k+1)
		result := j.Result
		result.Worker = ImportWorker
		data, err := pg.Encode(&result)
		if err != nil {
			return err
		}
		r.results = append(r.results, dbsqlc.ImportResultsParams{
			JobID: id, Generation: generation, AttemptID: attempt, Verdict: string(result.Verdict), Score: result.Score, Result: data, Worker: ImportWorker,
			Token: pgtype.UUID{Valid: true}, StartedAt: j.Start, CreatedAt: j.End,
		})
		if j.Current || job.LiveGeneration == nil || k == len(v.Judgings)-1 && !slices.ContainsFunc(v.Judgings, func(j PastJudging) bool { return j.Current }) {
			job.LiveGeneration, job.Verdict, job.Score = &generation, new(string(result.Verdict)), result.Score
		}
		job.Status, job.Generation, job.AttemptID, job.StartedAt = string(judge.Finished), generation, attempt, &now
	}
	r.jobs = append(r.jobs, job)
	if len(v.Judgings) > 0 {
		r.judged.JobIds, r.judged.Generations = append(r.judged.JobIds, id), append(r.judged.Generations, job.Generation)
		r.judged.Attempts, r.judged.Verdicts = append(r.judged.Attempts, job.AttemptID), append(r.judged.Verdicts, *job.Verdict)
	}
	return nil
}

func (i *importing) store(r *imported) error {
	s, ctx, tx := i.s, i.ctx, i.tx
	if _, err := s.q.ImportJobs(ctx, tx, r.jobs); err != nil {
		return err
	}
	if _, err := s.q.ImportPayloads(ctx, tx, r.payloads); err != nil {
		return err
	}
	if _, err := s.q.ImportResults(ctx, tx, r.results); err != nil {
		return err
	}
	if err := s.q.ContestNumber(ctx, tx, r.number); err != nil {
		return err
	}
	if len(r.judged.JobIds) > 0 {
		if err := s.q.ImportJudged(ctx, tx, r.judged); err != nil {
			return err
		}
	}
	if len(r.unjudged.JobIds) == 0 {
		return nil
	}
	return s.q.ImportUnjudged(ctx, tx, r.unjudged)
}

// log writes the log, and keeps what it told last.
func (i *importing) log() error {
	if i.past.Log == nil {
		return nil
	}
	lines, err := i.past.Log(i.people, i.removed)
	if err != nil {
		return err
	}
	c := dbsqlc.ContestPickRow{RoundID: i.id, Unshown: firstUnshown}
	for _, l := range lines { // also of what does not count and is told of no more
		number, err := strconv.ParseInt(l.Object.Object, 10, 64)
		switch {
		case l.Kind != submission || err != nil:
		case number > firstUnshown:
			c.Unshown = max(c.Unshown, number)
		default:
			c.Shown = max(c.Shown, number)
		}
	}
	told := map[string]Object{}
	for part := range slices.Chunk(lines, atOnce) {
		if err := i.s.number(i.ctx, i.tx, &c, part); err != nil {
			return err
		}
		for _, l := range part {
			keep(told, l.Line)
		}
	}
	var all []Object
	for _, o := range told {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b Object) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Object, b.Object))
	})
	for part := range slices.Chunk(all, atOnce) {
		if err := i.s.keep(i.ctx, i.tx, i.id, part); err != nil {
			return err
		}
	}
	return i.s.q.ContestMoved(i.ctx, i.tx, dbsqlc.ContestMovedParams{
		RoundID: i.id, Seq: c.Seq, PublicSeq: c.PublicSeq, TeamsSeq: c.TeamsSeq, Shown: c.Shown, Unshown: c.Unshown, WakeAt: &i.past.Round.Now,
	})
}

// submission is the kind of lines about what was handed in.
const submission = "submission"

// firstUnshown is the last number that no submission has of those that only the jury is told of.
const firstUnshown = 1_000_000_000

// keep takes a line in to what was told last of everything.
func keep(told map[string]Object, l Line) {
	name := l.Kind + " " + l.Object.Object
	was, known := told[name]
	switch {
	case l.Gone && was.Audience&^l.Audience == 0:
		delete(told, name)
		return
	case l.Gone:
		was.Audience &^= l.Audience
		told[name] = was
		return
	case known && string(was.Data) == string(l.Data):
		l.Audience |= was.Audience
		l.Only = cmp.Or(l.Only, was.Only)
	}
	if l.Audience&teams != 0 {
		l.Audience, l.Only = l.Audience&^own, 0
	}
	told[name] = l.Object
}
