package clics

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
)

// Event says that an object is as Data has it from now on; null: it is there no more. Without an ID the object is the only
// one of its type.
type Event struct {
	Type  string          `json:"type"`
	ID    *string         `json:"id"`
	Data  json.RawMessage `json:"data"`
	Token string          `json:"token,omitempty"` // behind which a client goes on; "" = behind none
}

// The types of events, which are the endpoints of a contest, but for the first.
const (
	TypeContest        = "contest"
	TypeJudgements     = "judgements"
	TypeTypes          = "judgement-types"
	TypeLanguages      = "languages"
	TypeProblems       = "problems"
	TypeGroups         = "groups"
	TypeOrganizations  = "organizations"
	TypeTeams          = "teams"
	TypeState          = "state"
	TypeSubmissions    = "submissions"
	TypeRuns           = "runs"
	TypeClarifications = "clarifications"
	TypeAwards         = "awards"
	TypePersons        = "persons"
	TypeAccounts       = "accounts"
	TypeCommentary     = "commentary"
)

// Types are all types of events.
var Types = []string{
	TypeContest, TypeTypes, TypeLanguages, TypeGroups, TypeOrganizations, TypeTeams, TypePersons, TypeAccounts, TypeProblems, TypeState, TypeSubmissions, TypeJudgements, TypeRuns, TypeClarifications, TypeAwards,
	TypeCommentary,
}

// Language is a language that may be handed in in.
type Language struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Entry      bool     `json:"entry_point_required"`
	Extensions []string `json:"extensions"`
}

// LanguageOf returns the object of a language. Where a program begins is found out from it.
func LanguageOf(l judge.Language) Language {
	return Language{LanguageID(l.ID), l.Name, false, append([]string{}, l.Extensions...)}
}

var identifier = regexp.MustCompile(`^[a-zA-Z0-9_]([a-zA-Z0-9_.-]{0,34}[a-zA-Z0-9_-])?$`)

// ID is what the Contest API calls something of ours by name: the name, or where that is too long for it, or has other
// letters, its beginning with a digest of the whole.
func ID(name string) string {
	const kept = 27
	if identifier.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	plain = strings.TrimLeft(plain, "-")
	return plain[:min(len(plain), kept)] + "-" + hex.EncodeToString(sum[:4])
}

// Line is a line of a round's log. No data means that the thing is told of no more.
type Line struct {
	Kind   contest.Kind
	Object string
	Data   []byte
}

// Teller makes events of the lines of a round's log, as one viewer is told them, in their order. The same lines give the same
// events.
type Teller struct {
	form      Form
	languages []Language
	sources   bool // the viewer may read what others hand in

	round  contest.RoundData
	config contest.Config
	clock  contest.Clock
	isOne  bool              // the round is a contest in the sense of the API
	said   map[string][]byte // the contest, its state and its judgement types, as they were told last
	codes  map[string]string // of participants, by their numbers
	events []Event
}

// NewTeller returns a teller that has read nothing. Only with sources are there references to what was handed in.
func NewTeller(f Form, languages []Language, sources bool) *Teller {
	return &Teller{form: f, languages: languages, sources: sources, said: map[string][]byte{}, codes: map[string]string{}}
}

// Known takes a line in that was told before: of a round, or of a participant. Nothing is told of it.
func (t *Teller) Known(l Line) error {
	_, _, err := t.Tell(l)
	return err
}

// Round is the round as the last line of it says.
func (t *Teller) Round() contest.RoundData { return t.round }

// IsContest reports whether the round is a contest in the sense of the API: one with an end.
func (t *Teller) IsContest() bool { return t.isOne }

// Tell returns what a line tells. With again the times of all that was told before have changed, or it was not told at all, as
// the round was no contest: after these events, what the log says last of everything else is to be told again.
func (t *Teller) Tell(l Line) (events []Event, again bool, err error) {
	t.events = nil
	switch l.Kind {
	case contest.KindRound:
		again, err = t.tellRound(l.Data)
	case contest.KindOrganization:
		err = tell(t, TypeOrganizations, l.Object, l.Data, func(d contest.OrganizationData) any { return t.form.OrganizationOf(t.round.Code, l.Object, d) })
	case contest.KindGroup:
		err = tell(t, TypeGroups, l.Object, l.Data, func(d contest.GroupData) any { return GroupOf(l.Object, d) })
	case contest.KindParticipant:
		err = t.tellTeam(l)
	case contest.KindPerson:
		err = tell(t, TypePersons, l.Object, l.Data, func(d contest.PersonData) any { return PersonOf(l.Object, d) })
	case contest.KindAccount:
		id := ID(l.Object)
		err = tell(t, TypeAccounts, id, l.Data, func(d contest.AccountData) any { return AccountOf(id, d) })
	case contest.KindCommentary:
		err = tell(t, TypeCommentary, l.Object, l.Data, func(d contest.CommentaryData) any { return CommentaryOf(l.Object, d, t.clock) })
	case contest.KindProblem:
		id := ID(l.Object)
		err = tell(t, TypeProblems, id, l.Data, func(d contest.ProblemData) any {
			return t.form.ProblemOf(t.round.Code, id, d, t.config, Facts{
				CPU: time.Duration(d.CPU) * time.Millisecond, MemoryMiB: d.MemoryMiB, OutputMiB: d.OutputMiB, CodeKiB: d.CodeKiB, Tests: d.Tests, MaxScore: d.MaxScore,
			})
		})
	case contest.KindSubmission:
		err = tell(t, TypeSubmissions, l.Object, l.Data, func(d contest.SubmissionData) any {
			var source *Source
			if t.sources {
				source = &Source{Href: fmt.Sprintf("contests/%s/submissions/%d/files", t.round.Code, d.Number)}
			}
			return SubmissionOf(d, t.clock, source)
		})
	case contest.KindJudgement:
		err = tell(t, TypeJudgements, l.Object, l.Data, func(d contest.JudgementData) any { return t.form.JudgementOf(l.Object, d, t.config, t.clock) })
	case contest.KindRun:
		err = tell(t, TypeRuns, l.Object, l.Data, func(d contest.RunData) any { return RunOf(l.Object, d, t.clock) })
	case contest.KindClarification:
		id, _, _ := strings.Cut(strings.ReplaceAll(l.Object, "*", "@"), "@")
		err = tell(t, TypeClarifications, id, l.Data, func(d contest.ClarificationData) any { return t.form.ClarificationOf(id, d, t.clock) })
	case contest.KindAward:
		id := ID(l.Object)
		err = tell(t, TypeAwards, id, l.Data, func(d contest.AwardData) any {
			return Award{id, d.Citation, append([]string{}, d.Participants...)}
		})
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s %q: %w", l.Kind, l.Object, err)
	}
	return t.events, again, nil
}

// add tells of an object, if the round is a contest.
func (t *Teller) add(kind, id string, object any) error {
	if !t.isOne {
		return nil
	}
	e := Event{Type: kind, Data: json.RawMessage("null")}
	if id != "" {
		e.ID = &id
	}
	if object != nil {
		raw, err := encode(object)
		if err != nil {
			return err
		}
		e.Data = raw
	}
	t.events = append(t.events, e)
	return nil
}

// encode writes JSON as the API does, without escapes that HTML would need.
func encode(object any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// tell tells of what a line is about.
func tell[D any](t *Teller, kind, id string, data []byte, object func(D) any) error {
	if data == nil {
		return t.add(kind, id, nil)
	}
	var d D
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	return t.add(kind, id, object(d))
}

func (t *Teller) tellTeam(l Line) error {
	if l.Data == nil {
		code, known := t.codes[l.Object]
		if !known {
			return errors.New("it is told of no more, and was not told of")
		}
		return t.add(TypeTeams, code, nil)
	}
	var d contest.ParticipantData
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	t.codes[l.Object] = d.Code
	return t.add(TypeTeams, d.Code, TeamOf(d))
}

// changed tells of the only object of a type, if it is another.
func (t *Teller) changed(kind, id string, object any) error {
	raw, err := encode(object)
	if err != nil || bytes.Equal(t.said[kind+"/"+id], raw) {
		return err
	}
	t.said[kind+"/"+id] = raw
	return t.add(kind, id, object)
}

func (t *Teller) tellRound(data []byte) (again bool, err error) {
	var d contest.RoundData
	if err := json.Unmarshal(data, &d); err != nil {
		return false, err
	}
	was, wasOne := t.round, t.isOne
	t.round, t.clock = d, d.Clock()
	if t.config, err = contest.ParseConfig(contest.Format(d.Format), d.Settings); err != nil {
		return false, err
	}
	object, err := t.form.ContestOf(d, t.config)
	if errors.Is(err, ErrEndless) {
		t.isOne = false
		return false, nil
	}
	if err != nil {
		return false, err
	}
	t.isOne = true
	if err := t.changed(TypeContest, "", object); err != nil {
		return false, err
	}
	for _, v := range JudgementTypes(t.config) {
		if err := t.changed(TypeTypes, v.ID, v); err != nil {
			return false, err
		}
	}
	for _, l := range t.languages {
		if err := t.changed(TypeLanguages, l.ID, l); err != nil {
			return false, err
		}
	}
	if err := t.changed(TypeState, "", StateOf(d)); err != nil {
		return false, err
	}
	return !wasOne && was.Code != "" || wasOne && !sameWords(was, d), nil
}

// sameWords reports whether everything else is told alike: all moments have the same contest times, and verdicts count alike.
func sameWords(a, b contest.RoundData) bool {
	if (a.Start == nil) != (b.Start == nil) || a.Start != nil && !a.Start.Equal(*b.Start) || len(a.Removed) != len(b.Removed) {
		return false
	}
	if a.Format != b.Format || !bytes.Equal(a.Settings, b.Settings) {
		return false
	}
	for i := range a.Removed {
		if x, y := a.Removed[i], b.Removed[i]; !x.From.Equal(y.From) || !x.To.Equal(y.To) || x.Undone != y.Undone {
			return false
		}
	}
	return true
}
