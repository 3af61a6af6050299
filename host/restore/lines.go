package restore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/sql/rounds"
)

// LogFile is [clics.LogFile].
const LogFile = clics.LogFile

// Line is a line of a log that means the same on every server: participants have their codes, and removed intervals are counted
// from 1 on.
type Line struct {
	At       time.Time        `json:"at"`
	Kind     contest.Kind     `json:"kind"`
	Object   string           `json:"object"`
	Audience contest.Audience `json:"audience"`       // its bits
	Only     string           `json:"only,omitempty"` // the participant whom the bit for one alone means
	Data     json.RawMessage  `json:"data"`           // null: it is told of no more
}

// Portable turns lines of a log, in order, into such that mean the same everywhere.
type Portable struct {
	codes   map[string]string // of participants, by number
	removed map[int64]int64
}

// Line returns the next line.
func (p *Portable) Line(l rounds.Logged) (Line, error) {
	if p.codes == nil {
		p.codes, p.removed = map[string]string{}, map[int64]int64{}
	}
	out := Line{At: l.At.UTC(), Kind: contest.Kind(l.Kind), Object: l.Object.Object, Audience: contest.Audience(l.Audience), Data: l.Data}
	if l.Gone {
		out.Data = nil
	}
	if err := p.code(l, &out); err != nil {
		return Line{}, fmt.Errorf("line %d: %w", l.Seq, err)
	}
	if l.Only != 0 && out.Audience&contest.Own != 0 {
		code, ok := p.codes[strconv.FormatInt(l.Only, 10)]
		if !ok {
			return Line{}, fmt.Errorf("line %d: it is for participant %d, who was not told of", l.Seq, l.Only)
		}
		out.Only = code
	}
	return out, nil
}

// code puts codes in the place of numbers.
func (p *Portable) code(l rounds.Logged, out *Line) (err error) {
	//exhaustive:ignore
	switch out.Kind {
	case contest.KindParticipant:
		if out.Data != nil {
			var d contest.ParticipantData
			if err := json.Unmarshal(out.Data, &d); err != nil {
				return err
			}
			p.codes[out.Object] = d.Code
		}
		if out.Object = p.codes[out.Object]; out.Object == "" {
			return errors.New("a participant who was not told of is told of no more")
		}
	case contest.KindSubmission:
		out.Data, err = changed(out.Data, func(d *contest.SubmissionData) { d.Participant = 0 })
	case contest.KindRound:
		out.Data, err = changed(out.Data, func(d *contest.RoundData) {
			for i := range d.Removed {
				id := d.Removed[i].ID
				if p.removed[id] == 0 {
					p.removed[id] = int64(len(p.removed) + 1)
				}
				d.Removed[i].ID = p.removed[id]
			}
		})
	case contest.KindClarification:
		if name, number, alone := strings.Cut(out.Object, "@"); alone {
			if p.codes[number] == "" {
				return fmt.Errorf("%s is for a participant who was not told of", out.Object)
			}
			out.Object = name + "@" + p.codes[number]
		}
	}
	return err
}

// changed is data with something else in it.
func changed[D any](data []byte, change func(*D)) ([]byte, error) {
	if data == nil {
		return nil, nil
	}
	var d D
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	change(&d)
	return json.Marshal(d)
}

// bound are lines as a server has them on which participants and removed intervals have these numbers.
func bound(lines []Line, participants map[string]int64, removed []int64) ([]rounds.PastLine, error) {
	out := make([]rounds.PastLine, len(lines))
	for i, l := range lines {
		one, err := bind(l, participants, removed)
		if err != nil {
			return nil, fmt.Errorf("line %d of the log: %w", i+1, err)
		}
		out[i] = one
	}
	return out, nil
}

func bind(l Line, participants map[string]int64, removed []int64) (out rounds.PastLine, err error) {
	out.At, out.Kind, out.Object.Object, out.Audience = l.At, string(l.Kind), l.Object, uint8(l.Audience)
	out.Data, out.Gone = l.Data, l.Data == nil
	number := func(code string) int64 {
		id, ok := participants[code]
		if !ok && err == nil {
			err = fmt.Errorf("%q is no participant", code)
		}
		return id
	}
	if l.Audience&contest.Own != 0 {
		out.Only = number(l.Only)
	}
	var wrong error
	//exhaustive:ignore
	switch l.Kind {
	case contest.KindParticipant:
		out.Object.Object = strconv.FormatInt(number(l.Object), 10)
	case contest.KindSubmission:
		out.Data, wrong = changed(l.Data, func(d *contest.SubmissionData) {
			d.Participant, out.Submission = number(d.Team), d.Number
		})
	case contest.KindJudgement, contest.KindRun:
		of, _, _ := strings.Cut(l.Object, "-")
		out.Submission, wrong = strconv.ParseInt(of, 10, 64)
	case contest.KindRound:
		out.Data, wrong = changed(l.Data, func(d *contest.RoundData) {
			for k := range d.Removed {
				if n := d.Removed[k].ID; n >= 1 && n <= int64(len(removed)) {
					d.Removed[k].ID = removed[n-1]
				}
			}
		})
	case contest.KindClarification:
		if name, code, alone := strings.Cut(l.Object, "@"); alone {
			out.Object.Object = name + "@" + strconv.FormatInt(number(code), 10)
		}
	}
	return out, errors.Join(err, wrong)
}

// ReadLines reads a log, as [LogFile] has it.
func ReadLines(raw []byte) (out []Line, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		var l Line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(out)+1, err)
		}
		if string(l.Data) == "null" {
			l.Data = nil
		}
		out = append(out, l)
	}
}
