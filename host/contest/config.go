package contest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
)

// Format is how a contest is scored.
type Format string

// The formats.
const (
	ICPC Format = "icpc" // problems are solved or not; fewer minutes are better
	IOI  Format = "ioi"  // problems give points
)

// Config is a format with its settings.
type Config struct {
	Format Format
	ICPC   ICPCConfig // used where Format is ICPC
	IOI    IOIConfig  // used where Format is IOI
}

// Rounding is how times of solved problems become penalty time.
type Rounding string

// The roundings.
const (
	MinuteEach       Rounding = "minute_each"        // each time is cut to the minute
	Second           Rounding = "second"             // each time is cut to the second
	SecondThenMinute Rounding = "second_then_minute" // seconds are added up, and the sum is cut to the minute
)

// ICPCConfig are the settings of the format icpc.
type ICPCConfig struct {
	PenaltyMinutes      int64    `json:"penalty_minutes"`        // for each wrong attempt at a problem that is solved
	PenaliseCE          bool     `json:"penalise_ce"`            // a compile error is a wrong attempt
	Rounding            Rounding `json:"rounding"`               //
	TieLast             bool     `json:"tie_last"`               // the earlier last solution decides between equal ones
	B                   int      `json:"b"`                      // how many more bronze medals there are
	Medals              Medals   `json:"medals"`                 //
	OwnVerdictsInFreeze bool     `json:"own_verdicts_in_freeze"` // teams see their own judgements in the freeze
	Commentary          bool     `json:"commentary"`             // it is said when the lead changes, and when medals are at stake
}

// Medals are how many there are of each, and of which groups; none is of all that are ranked.
type Medals struct {
	Gold   int      `json:"gold"`
	Silver int      `json:"silver"`
	Bronze int      `json:"bronze"`
	Groups []string `json:"groups"`
}

// Mode is which submissions to a problem make its score.
type Mode string

// The modes.
const (
	Max            Mode = "max"              // the best submission
	MaxSubtask     Mode = "max_subtask"      // the best of each group of tests
	MaxTokenedLast Mode = "max_tokened_last" // the best of those with a token and the last one
	LastSubmission Mode = "last"             // the last one
)

// Tie is what decides between rows of the same score.
type Tie string

// What may decide.
const (
	TieNone   Tie = "none"   // they have the same rank
	TieTime   Tie = "time"   // the earlier last improvement
	TieSolved Tie = "solved" // more problems that are solved
)

// IOIConfig are the settings of the format ioi. Those that have nothing to do with the standings are kept for others.
type IOIConfig struct {
	Mode           Mode           `json:"mode"`
	Precision      int            `json:"precision"` // decimal places that are shown; scores are not rounded
	Tie            Tie            `json:"tie"`
	Feedback       judge.Feedback `json:"feedback"` // what participants are told of what they hand in, while the round goes on
	Board          string         `json:"board"`
	Tokens         *TokenRules    `json:"tokens"` // nil = nobody has any
	MinInterval    int            `json:"min_interval_s"`
	MaxSubmissions int            `json:"max_submissions"`
}

// Limits are how long after the last submission of a problem a participant may hand in another, and how many of it there may be;
// 0 = at once, and any number.
func (c Config) Limits() (apart time.Duration, most int) {
	if c.Format != IOI {
		return 0, 0
	}
	return time.Duration(c.IOI.MinInterval) * time.Second, c.IOI.MaxSubmissions
}

// Boards of the format ioi, while the round goes on: shown to everybody, to staff alone, or to those and of each participant their
// own rank.
const (
	BoardAll     = "all"
	BoardNone    = "none"
	BoardOwnRank = "own_rank"
)

// Closed reports whether the board, and what it is made of, is for staff alone while the round goes on.
func (c Config) Closed() bool { return c.Format == IOI && c.IOI.Board != BoardAll }

// Feedback is how much participants are told of what became of something that they handed in at a moment, with a token or without,
// and did not fail to compile. The like for pages is the function feedback_told of the database.
func (c Config) Feedback(clock Clock, now, handedIn time.Time, token bool) judge.Feedback {
	switch {
	case c.Format == ICPC && !c.ICPC.OwnVerdictsInFreeze && clock.Hides(handedIn):
		return judge.FeedbackNone
	case c.Format != IOI || token || clock.over(now) && !clock.Hides(handedIn):
		return judge.FeedbackFull
	}
	return c.IOI.Feedback
}

// ParseConfig reads the settings of a format, the field format_config of a round. What is left out has its default; empty
// text is all of them. An error names the setting and what it may be.
func ParseConfig(format Format, text []byte) (Config, error) {
	c := Config{
		Format: format,
		ICPC:   ICPCConfig{PenaltyMinutes: 20, Rounding: MinuteEach, TieLast: true, Medals: Medals{4, 4, 4, []string{}}, OwnVerdictsInFreeze: true, Commentary: true},
		IOI: IOIConfig{
			Mode: MaxSubtask, Precision: 2, Tie: TieNone, Feedback: judge.FeedbackFull, Board: BoardAll, MinInterval: 60, MaxSubmissions: 50,
		},
	}
	var err error
	switch format {
	case ICPC:
		err = read(text, &c.ICPC)
		if err == nil {
			err = c.ICPC.check()
		}
	case IOI:
		err = read(text, &c.IOI)
		if err == nil {
			err = c.IOI.check()
		}
	default:
		return c, fmt.Errorf("format: there is no format %q; there are icpc and ioi", format)
	}
	if err != nil {
		return c, fmt.Errorf("format_config: %w", err)
	}
	return c, nil
}

// read reads the members of a JSON object into a struct, in which there is one for each.
func read(text []byte, into any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	known, err := members(into)
	if err != nil {
		return err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return fmt.Errorf("it is no JSON object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		raw, ok := known[name]
		if !ok {
			return fmt.Errorf("there is no setting %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if len(raw) > 0 && raw[0] == '{' {
			if err := sameMembers(name, given[name], raw); err != nil {
				return err
			}
		}
	}
	in := json.NewDecoder(bytes.NewReader(text)) // the settings are there; what is in them may not be
	in.DisallowUnknownFields()
	return in.Decode(into)
}

// members returns the members that a struct has as JSON.
func members(of any) (m map[string]json.RawMessage, err error) {
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

// sameMembers refuses members of an object in a setting that it does not have.
func sameMembers(setting string, given, known json.RawMessage) error {
	var have, want map[string]json.RawMessage
	if err := json.Unmarshal(given, &have); err != nil {
		return fmt.Errorf("%s: it is no JSON object: %w", setting, err)
	}
	if err := json.Unmarshal(known, &want); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%s: there is no setting %q; there are %s", setting, name, strings.Join(slices.Sorted(maps.Keys(want)), ", "))
		}
	}
	return nil
}

// most is the largest number that a setting may be.
const most = 1_000_000

// between refuses a number that is not in a range.
func between(setting string, n, least, most int64) error {
	if n < least || n > most {
		return fmt.Errorf("%s: %d is not from %d to %d", setting, n, least, most)
	}
	return nil
}

// oneOf refuses a word that is not in a list.
func oneOf[T ~string](setting string, word T, words ...T) error {
	if !slices.Contains(words, word) {
		return fmt.Errorf("%s: %q is none of %q", setting, word, words)
	}
	return nil
}

// firstOf returns the first error.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c ICPCConfig) check() error {
	return firstOf(
		between("penalty_minutes", c.PenaltyMinutes, 0, most),
		oneOf("rounding", c.Rounding, MinuteEach, Second, SecondThenMinute),
		between("b", int64(c.B), 0, most),
		between("medals: gold", int64(c.Medals.Gold), 0, most),
		between("medals: silver", int64(c.Medals.Silver), 0, most),
		between("medals: bronze", int64(c.Medals.Bronze), 0, most),
	)
}

func (c IOIConfig) check() error {
	if c.Tokens != nil {
		if err := firstOf(c.Tokens.Round.check("tokens: round"), c.Tokens.Problem.check("tokens: problem")); err != nil {
			return err
		}
	}
	return firstOf(
		oneOf("mode", c.Mode, Max, MaxSubtask, MaxTokenedLast, LastSubmission),
		between("precision", int64(c.Precision), 0, 6),
		oneOf("tie", c.Tie, TieNone, TieTime, TieSolved),
		oneOf("feedback", c.Feedback, judge.Feedbacks...),
		oneOf("board", c.Board, BoardNone, BoardOwnRank, BoardAll),
		between("min_interval_s", int64(c.MinInterval), 0, most),
		between("max_submissions", int64(c.MaxSubmissions), 0, most),
	)
}
