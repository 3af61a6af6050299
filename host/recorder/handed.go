package recorder

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/rounds"
)

// submissions wants what was handed in told, with its judgings. What counts no more, such as after a shorter round, stays told,
// but not what staff have not count.
func (p *planner) submissions() {
	judged := map[int64][]rounds.Object{}
	for _, o := range p.seen.Told {
		if contest.Kind(o.Kind) == contest.KindJudgement {
			judged[o.Submission] = append(judged[o.Submission], o)
		}
	}
	handed := slices.Clone(p.seen.Handed)
	for i := range handed {
		h := &handed[i]
		if h.Ignored {
			p.ignored[h.Number] = h.Number != 0
			continue
		}
		if h.Number == 0 && !p.clock.Official(h.At) {
			continue
		}
		if h.Number == 0 {
			last := &p.written.Shown
			if h.Hidden {
				last = &p.written.Unshown
			}
			*last++
			h.Number = *last
			p.written.Numbers[h.JobID] = h.Number
		}
		o := object{kind: contest.KindSubmission, name: strconv.FormatInt(h.Number, 10), submission: h.Number, audience: whom(h.Hidden)}
		if h.Hidden {
			o.only = h.Participant
		}
		p.say(o, contest.SubmissionData{
			Number: h.Number, Participant: h.Participant, Team: h.Code, Problem: h.Problem, Language: h.Language, Time: p.moment(h.At), Token: h.Token,
		})
	}
	for i := range handed {
		if handed[i].Number != 0 && !handed[i].Ignored {
			p.judgements(&handed[i], judged[handed[i].Number])
		}
	}
}

// judgements wants the judging of a submission told that counts, and of those that were told that they count no more: to
// those alone who were told of them.
func (p *planner) judgements(h *rounds.Handed, told []rounds.Object) {
	name := fmt.Sprintf("%d-%d", h.Number, h.Generation)
	if p.stands(h, told, name) {
		return
	}
	for _, old := range told {
		if old.Object == name {
			continue
		}
		var d contest.JudgementData
		if err := json.Unmarshal(old.Data, &d); err != nil {
			p.err = fmt.Errorf("judgement %s: %w", old.Object, err)
			return
		}
		d.Current = d.Current && h.Generation == 0
		o := object{kind: contest.KindJudgement, name: old.Object, submission: h.Number, audience: contest.Audience(old.Audience), only: old.Only}
		if h.Hidden {
			o.audience, o.only = o.audience&^(contest.Public|contest.Teams)|contest.Own, h.Participant
		}
		p.say(o, d)
	}
	if h.Generation == 0 {
		return
	}
	o := p.heard(h, name, h.Verdict)
	d := contest.JudgementData{
		Submission: h.Number, Generation: h.Generation, Verdict: h.Verdict, Current: true, Score: h.Score, Start: p.moment(h.Start), End: p.moment(h.End), CPU: h.CPU,
	}
	if p.feedback(h).Veils() {
		d.CPU = 0 // of a single test
	}
	if err := json.Unmarshal(h.Groups, &d.Groups); err != nil {
		p.err = fmt.Errorf("judgement %s: the scores of groups: %w", name, err)
		return
	}
	p.say(o, d)
	p.runs(o, h)
}

// heard is a judgement of a submission, for those who may know of it now. Whoever handed in and was told of it once stays told.
func (p *planner) heard(h *rounds.Handed, name string, verdict judge.Verdict) object {
	o := object{kind: contest.KindJudgement, name: name, submission: h.Number, audience: whom(h.Hidden)}
	was := p.told[key{contest.KindJudgement, name}]
	shown := contest.Audience(was.Audience)&contest.Public != 0 // and stays so, should the round go on after its end
	if p.clock.Hides(h.At) || p.config.Closed() && p.clock.Ended(p.now) == nil && !shown {
		o.audience = contest.Jury | contest.Staff | contest.Own
	}
	own := contest.Audience(was.Audience)&contest.Own != 0
	if verdict != judge.CE && !p.feedback(h).Verdict() && !own {
		o.audience = contest.Jury | contest.Staff
	}
	if o.audience&contest.Own != 0 {
		o.only = h.Participant
	}
	return o
}

// feedback is how much whoever handed something in is told of what became of it.
func (p *planner) feedback(h *rounds.Handed) judge.Feedback {
	return p.config.Feedback(p.clock, p.now, h.At, h.Token)
}

// stands reports whether a result that stands keeps another judging of a submission than the one by this name, and wants that
// told: what is judged again then changes nothing until the round is opened again.
func (p *planner) stands(h *rounds.Handed, told []rounds.Object, name string) bool {
	if p.seen.Round.Finalized == nil {
		return false
	}
	for _, old := range told {
		var d contest.JudgementData
		if err := json.Unmarshal(old.Data, &d); err != nil {
			p.err = fmt.Errorf("judgement %s: %w", old.Object, err)
			return false
		}
		if !d.Current || old.Object == name {
			continue
		}
		o := p.heard(h, old.Object, d.Verdict)
		p.say(o, d)
		for _, run := range p.seen.Told {
			if contest.Kind(run.Kind) == contest.KindRun && run.Submission == h.Number && strings.HasPrefix(run.Object, old.Object+"-") {
				one := o
				one.kind, one.name = contest.KindRun, run.Object
				one = p.single(one, h)
				one.data = run.Data
				p.want = append(p.want, one)
			}
		}
		return true
	}
	return false
}

// single is a single test for those who may know of it, of those who are told of its judgement: where they are not public, the jury
// and who handed in, and where the feedback is without them, the jury alone.
func (p *planner) single(run object, h *rounds.Handed) object {
	switch {
	case p.feedback(h).Veils():
		run.audience, run.only = run.audience&(contest.Jury|contest.Staff), 0
		return run
	case p.seen.Round.PublicRuns || run.audience&(contest.Own|contest.Teams) == 0:
		return run
	}
	run.audience, run.only = run.audience&^(contest.Public|contest.Teams)|contest.Own, h.Participant
	return run
}

// runs wants the single tests of a judging told: to whoever is told of it, or, where they are not public, to the jury and to who
// handed in.
func (p *planner) runs(judgement object, h *rounds.Handed) {
	var tests []struct {
		Verdict judge.Verdict `json:"verdict"`
		CPU     int64         `json:"cpu_us"`
		Wall    float64       `json:"wall_ms"`
	}
	if err := json.Unmarshal(h.Tests, &tests); err != nil {
		p.err = fmt.Errorf("judgement %s: the tests: %w", judgement.name, err)
		return
	}
	o := judgement
	o.kind = contest.KindRun
	o = p.single(o, h)
	at := h.Start
	for i, t := range tests {
		at = at.Add(time.Duration(t.Wall * float64(time.Millisecond)))
		if at.After(h.End) {
			at = h.End
		}
		o.name = fmt.Sprintf("%s-%d", judgement.name, i+1)
		p.say(o, contest.RunData{Judgement: judgement.name, Ordinal: i + 1, Verdict: t.Verdict, Time: p.moment(at), CPU: t.CPU})
	}
}
