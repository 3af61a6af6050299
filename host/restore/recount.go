package restore

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"deepoj/host/contest"
)

// Boards are what lines say to some, counted twice: by a fold, and anew in the most obvious way.
type Boards struct {
	Fold, Anew []contest.Row
	Codes      map[int64]string // of participants, by the numbers that they have here
}

// Recount counts what lines say to an audience.
func Recount(lines []Line, audience contest.Audience) (Boards, error) {
	f, err := fold(lines, audience)
	if err != nil {
		return Boards{}, err
	}
	return Boards{f.state.Board(contest.Query{}).Rows, contest.Recount(f.cfg, f.entries), f.codes}, nil
}

// Digest is the digest of the board that lines give an audience.
func Digest(lines []Line, audience contest.Audience) (string, error) {
	f, err := fold(lines, audience)
	if err != nil {
		return "", err
	}
	digest := f.state.Digest(func(id int64) string { return f.codes[id] })
	return hex.EncodeToString(digest[:]), nil
}

// folded is what lines say to an audience.
type folded struct {
	cfg     contest.Config
	entries []contest.Entry
	state   *contest.State
	codes   map[int64]string // of participants, by the numbers that they have here
}

func fold(lines []Line, audience contest.Audience) (f folded, err error) {
	numbers := map[string]int64{}
	f.codes = map[int64]string{}
	for _, l := range lines {
		if l.Kind == contest.KindParticipant && numbers[l.Object] == 0 {
			numbers[l.Object] = int64(len(numbers) + 1)
			f.codes[numbers[l.Object]] = l.Object
		}
	}
	bounded, err := bound(lines, numbers, nil)
	if err != nil {
		return f, err
	}
	var round contest.RoundData
	for i, l := range bounded {
		if contest.Audience(l.Audience)&audience == 0 {
			continue
		}
		data := l.Data
		if l.Gone {
			data = nil
		}
		if contest.Kind(l.Kind) == contest.KindRound {
			round = contest.RoundData{}
			if err := json.Unmarshal(data, &round); err != nil {
				return f, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		some, err := contest.Read(contest.Kind(l.Kind), l.Object.Object, data)
		if err != nil {
			return f, fmt.Errorf("line %d: %w", i+1, err)
		}
		f.entries = append(f.entries, some...)
	}
	if f.cfg, err = contest.ParseConfig(contest.Format(round.Format), round.Settings); err != nil {
		return f, err
	}
	f.state = contest.New(f.cfg)
	_, err = f.state.Together(f.entries...)
	return f, err
}
