package clics

import (
	"math"
	"slices"
	"strconv"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
)

// Contest is the object of a round. Fields that are nil where the text says so are left out.
type Contest struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	FormalName string  `json:"formal_name,omitempty"`
	Start      *string `json:"start_time"`
	Pause      *string `json:"countdown_pause_time,omitempty"`
	Duration   string  `json:"duration"`
	Freeze     *string `json:"scoreboard_freeze_duration"`
	Thaw       *string `json:"scoreboard_thaw_time,omitempty"`
	Type       string  `json:"scoreboard_type"`
	Penalty    any     `json:"penalty_time,omitempty"`
}

// ContestOf returns the object of a round, or [ErrEndless].
func (f Form) ContestOf(r contest.RoundData, cfg contest.Config) (Contest, error) {
	if r.Duration == nil {
		return Contest{}, ErrEndless
	}
	length := time.Duration(*r.Duration) * time.Millisecond
	c := Contest{ID: r.Code, Name: r.Title, FormalName: r.FormalName, Start: absOrNull(r.Start), Duration: RelTime(length), Type: "pass-fail"}
	if r.Paused != nil {
		c.Pause = new(RelTime(time.Duration(*r.Paused) * time.Millisecond))
	}
	if r.Freeze != nil {
		c.Freeze = new(RelTime(length - time.Duration(*r.Freeze)*time.Millisecond))
	}
	if f.Version == V202601 {
		c.Thaw = absOrNull(r.Thaw)
	}
	if scored(cfg) {
		c.Type = "score"
		return c, nil
	}
	c.Penalty = f.span(time.Duration(cfg.ICPC.PenaltyMinutes) * time.Minute)
	return c, nil
}

// State is how far a contest is. Frozen and Thawed are there only where something is hidden.
type State struct {
	Started    *string  `json:"started"`
	Frozen     **string `json:"frozen,omitempty"`
	Ended      *string  `json:"ended"`
	Thawed     **string `json:"thawed,omitempty"`
	Finalized  *string  `json:"finalized"`
	UpdatesEnd *string  `json:"end_of_updates"`
}

// StateOf returns how far a round is.
func StateOf(r contest.RoundData) State {
	s := State{Started: absOrNull(r.Started), Ended: absOrNull(r.Ended), Finalized: absOrNull(r.Finalized), UpdatesEnd: absOrNull(r.UpdatesEnd)}
	if r.Freeze != nil {
		s.Frozen, s.Thawed = new(absOrNull(r.Frozen)), new(absOrNull(r.Thawed))
	}
	return s
}

// JudgementType is a kind of verdicts.
type JudgementType struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Penalty *bool  `json:"penalty,omitempty"` // only of contests with penalty time
	Solved  bool   `json:"solved"`
}

// JudgementTypes returns the kinds of verdicts that a contest has, in a fixed order.
func JudgementTypes(cfg contest.Config) []JudgementType {
	var out []JudgementType
	for _, v := range judge.Verdicts {
		if v == judge.PA || v == judge.SE {
			continue // they are called AC and JE
		}
		t := JudgementType{ID: JudgementTypeID(v), Name: v.Name(), Solved: v == judge.AC}
		if !scored(cfg) {
			t.Penalty = new(v != judge.AC && v != judge.JE && (v != judge.CE || cfg.ICPC.PenaliseCE))
		}
		out = append(out, t)
	}
	return out
}

// Group is a group of teams.
type Group struct {
	ID     string  `json:"id"`
	ICPCID *string `json:"icpc_id,omitempty"`
	Name   string  `json:"name"`
	Type   *string `json:"type,omitempty"`
}

// GroupOf returns the object of a group.
func GroupOf(id string, g contest.GroupData) Group {
	return Group{id, orNull(g.ICPCID), g.Name, orNull(g.Type)}
}

// Organization is where teams come from.
type Organization struct {
	ID          string    `json:"id"`
	ICPCID      *string   `json:"icpc_id,omitempty"`
	Name        string    `json:"name"`
	FormalName  *string   `json:"formal_name,omitempty"`
	Country     *string   `json:"country,omitempty"`
	Subdivision *string   `json:"country_subdivision,omitempty"`
	URL         *string   `json:"url,omitempty"`
	Twitter     *string   `json:"twitter_account,omitempty"`
	Logo        []Picture `json:"logo,omitempty"`
}

// Picture is a reference to a picture.
type Picture struct {
	Href     string `json:"href"`
	Filename string `json:"filename"`
	Hash     string `json:"hash,omitempty"`
	Mime     string `json:"mime"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
}

// OrganizationOf returns the object of an organization of a contest.
func (f Form) OrganizationOf(contest, id string, o contest.OrganizationData) Organization {
	out := Organization{id, orNull(o.ICPCID), o.Name, orNull(o.FormalName), orNull(o.Country), nil, orNull(o.URL), orNull(o.Twitter), nil}
	for _, l := range o.Logos {
		out.Logo = append(out.Logo, Picture{"contests/" + contest + "/organizations/" + id + "/" + l.Name, l.Name, l.Hash, l.Media, l.Width, l.Height})
	}
	if f.Version == V202601 { // earlier ones do not know it
		out.Subdivision = orNull(o.Subdivision)
	}
	return out
}

// Team is a participant. Its id is the participant's code.
type Team struct {
	ID           string   `json:"id"`
	ICPCID       *string  `json:"icpc_id,omitempty"`
	Name         string   `json:"name"`
	Label        string   `json:"label"`
	DisplayName  *string  `json:"display_name,omitempty"`
	Organization *string  `json:"organization_id,omitempty"`
	Groups       []string `json:"group_ids"`
	Hidden       bool     `json:"hidden,omitempty"`
}

// TeamOf returns the object of a participant.
func TeamOf(p contest.ParticipantData) Team {
	t := Team{p.Code, orNull(p.ICPCID), p.Name, p.Label, orNull(p.DisplayName), orNull(p.Organization), append([]string{}, p.Groups...), p.Hidden}
	if t.Label == "" {
		t.Label = p.Code
	}
	return t
}

// Facts are what the version of a problem says besides its place in the round; 0 = unknown.
type Facts struct {
	UUID                          string
	CPU                           time.Duration
	MemoryMiB, OutputMiB, CodeKiB int64
	Tests                         int
	MaxScore                      float64
}

// Problem is a problem of a contest.
type Problem struct {
	ID          string   `json:"id"`
	UUID        *string  `json:"uuid,omitempty"`
	Label       string   `json:"label"`
	Name        string   `json:"name"`
	Ordinal     int      `json:"ordinal"`
	RGB         *string  `json:"rgb,omitempty"`
	Color       *string  `json:"color,omitempty"`
	TimeLimit   float64  `json:"time_limit,omitempty"`
	MemoryLimit int64    `json:"memory_limit,omitempty"`
	OutputLimit int64    `json:"output_limit,omitempty"`
	CodeLimit   int64    `json:"code_limit,omitempty"`
	Tests       int      `json:"test_data_count"`
	MaxScore    *float64 `json:"max_score,omitempty"`
	Statement   []File   `json:"statement,omitempty"`
	Attachments []File   `json:"attachments,omitempty"`
}

// ProblemOf returns the object of a problem of a contest.
func (f Form) ProblemOf(contestID, id string, p contest.ProblemData, cfg contest.Config, is Facts) Problem {
	out := Problem{
		ID: id, UUID: orNull(is.UUID), Label: p.Label, Name: p.Name, Ordinal: p.Ordinal, RGB: orNull(p.RGB), Color: orNull(p.Color),
		TimeLimit: seconds(is.CPU), Tests: is.Tests,
	}
	if f.Version == V202601 { // earlier ones do not know them
		out.MemoryLimit, out.OutputLimit, out.CodeLimit = is.MemoryMiB, is.OutputMiB, is.CodeKiB
	}
	if scored(cfg) {
		switch {
		case p.Points != nil:
			out.MaxScore = p.Points
		case is.MaxScore > 0:
			out.MaxScore = &is.MaxScore
		}
	}
	for i, name := range FileNames(p) {
		file := File{"contests/" + contestID + "/problems/" + id + "/" + name, name, "application/pdf"}
		switch {
		case i < len(p.Statement):
			out.Statement = append(out.Statement, file)
		case f.Version == V202601:
			file.Mime = "application/octet-stream"
			out.Attachments = append(out.Attachments, file)
		}
	}
	return out
}

// seconds is a time in seconds, to the millisecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// File is a reference to a file.
type File struct {
	Href     string `json:"href"`
	Filename string `json:"filename"`
	Mime     string `json:"mime"`
}

// Submission is what a team handed in.
type Submission struct {
	ID          string   `json:"id"`
	Language    string   `json:"language_id"`
	Problem     string   `json:"problem_id"`
	Team        string   `json:"team_id"`
	Time        string   `json:"time"`
	ContestTime string   `json:"contest_time"`
	EntryPoint  **string `json:"entry_point,omitempty"`
	Files       []File   `json:"files,omitempty"`
}

// Source is how a submission is seen by who may read it.
type Source struct {
	EntryPoint string
	Href       string // of the archive of its files
}

// SubmissionOf returns the object of a submission, whose contest time is that of its round. Source is nil for who may not
// read it.
func SubmissionOf(s contest.SubmissionData, clock contest.Clock, source *Source) Submission {
	out := Submission{
		ID: strconv.FormatInt(s.Number, 10), Language: LanguageID(s.Language), Problem: ID(s.Problem), Team: s.Team,
		Time: AbsTime(s.Time), ContestTime: RelTime(clock.At(s.Time)),
	}
	if source != nil {
		out.EntryPoint = new(orNull(source.EntryPoint))
		out.Files = []File{{source.Href, "files.zip", "application/zip"}}
	}
	return out
}

// Judgement is a judging of a submission.
type Judgement struct {
	ID         string   `json:"id"`
	Submission string   `json:"submission_id"`
	Type       *string  `json:"judgement_type_id"`
	Score      *float64 `json:"score,omitempty"`
	Current    *bool    `json:"current,omitempty"`
	Start      string   `json:"start_time"`
	StartTime  string   `json:"start_contest_time"`
	End        *string  `json:"end_time"`
	EndTime    *string  `json:"end_contest_time"`
	MaxRunTime *float64 `json:"max_run_time,omitempty"`
}

// JudgementOf returns the object of a judging.
func (f Form) JudgementOf(id string, j contest.JudgementData, cfg contest.Config, clock contest.Clock) Judgement {
	out := Judgement{
		ID: id, Submission: strconv.FormatInt(j.Submission, 10), Start: AbsTime(j.Start), StartTime: RelTime(clock.At(j.Start)),
	}
	if f.Version == V202601 {
		out.Current = &j.Current
	}
	if j.Verdict == "" {
		return out
	}
	out.Type, out.End, out.EndTime = new(JudgementTypeID(j.Verdict)), new(AbsTime(j.End)), new(RelTime(clock.At(j.End)))
	if j.CPU > 0 {
		out.MaxRunTime = new(seconds(time.Duration(j.CPU) * time.Microsecond))
	}
	if scored(cfg) {
		out.Score = new(0.0)
		if j.Score != nil {
			out.Score = j.Score
		}
	}
	return out
}

// Run is a single test of a judging.
type Run struct {
	ID          string   `json:"id"`
	Judgement   string   `json:"judgement_id"`
	Ordinal     int      `json:"ordinal"`
	Type        string   `json:"judgement_type_id"`
	Time        string   `json:"time"`
	ContestTime string   `json:"contest_time"`
	RunTime     *float64 `json:"run_time,omitempty"`
}

// RunOf returns the object of a single test.
func RunOf(id string, r contest.RunData, clock contest.Clock) Run {
	out := Run{ID: id, Judgement: r.Judgement, Ordinal: r.Ordinal, Type: JudgementTypeID(r.Verdict), Time: AbsTime(r.Time), ContestTime: RelTime(clock.At(r.Time))}
	out.RunTime = new(seconds(time.Duration(r.CPU) * time.Microsecond))
	return out
}

// Clarification is a question of a team, or what the jury says. The text of 2026-01 has Teams and Groups; its schemas, and
// earlier releases, Team.
type Clarification struct {
	ID          string    `json:"id"`
	From        *string   `json:"from_team_id"`
	Team        **string  `json:"to_team_id,omitempty"`
	Teams       *[]string `json:"to_team_ids,omitempty"`
	Groups      *[]string `json:"to_group_ids,omitempty"`
	ReplyTo     *string   `json:"reply_to_id"`
	Problem     *string   `json:"problem_id"`
	Text        string    `json:"text"`
	Time        string    `json:"time"`
	ContestTime string    `json:"contest_time"`
}

// ClarificationOf returns the object of a clarification.
func (f Form) ClarificationOf(id string, c contest.ClarificationData, clock contest.Clock) Clarification {
	out := Clarification{ID: id, From: orNull(c.From), ReplyTo: orNull(c.ReplyTo), Text: c.Text, Time: AbsTime(c.Time), ContestTime: RelTime(clock.At(c.Time))}
	if c.Problem != "" {
		out.Problem = new(ID(c.Problem))
	}
	if !f.modern() {
		out.Team = new(*string)
		if len(c.Teams) > 0 { // it knows one
			*out.Team = &c.Teams[0]
		}
		return out
	}
	if len(c.Teams) > 0 {
		out.Teams = &c.Teams
	}
	if len(c.Groups) > 0 {
		out.Groups = &c.Groups
	}
	return out
}

// Award is what teams get.
type Award struct {
	ID       string   `json:"id"`
	Citation string   `json:"citation"`
	Teams    []string `json:"team_ids"`
}

// Person is somebody whom the contest is about.
type Person struct {
	ID     string   `json:"id"`
	ICPCID *string  `json:"icpc_id,omitempty"`
	Teams  []string `json:"team_ids"`
	Name   string   `json:"name"`
	Title  *string  `json:"title,omitempty"`
	Role   string   `json:"role"`
}

// PersonOf returns the object of a person.
func PersonOf(id string, p contest.PersonData) Person {
	return Person{id, orNull(p.ICPCID), append([]string{}, p.Participants...), p.Name, orNull(p.Title), p.Role}
}

// Account is somebody who can log in. Nobody is told a password.
type Account struct {
	ID       string  `json:"id"`
	Username string  `json:"username"`
	Name     *string `json:"name,omitempty"`
	Type     string  `json:"type"`
	Team     *string `json:"team_id,omitempty"`
	Person   *string `json:"person_id,omitempty"`
}

// AccountOf returns the object of an account.
func AccountOf(id string, a contest.AccountData) Account {
	return Account{id, a.Username, orNull(a.Name), a.Type, orNull(a.Participant), orNull(a.Person)}
}

// Commentary is what somebody says of the contest as it goes on.
type Commentary struct {
	ID          string   `json:"id"`
	Time        string   `json:"time"`
	ContestTime string   `json:"contest_time"`
	Message     string   `json:"message"`
	Tags        []string `json:"tags"`
	Source      *string  `json:"source_id,omitempty"`
	Teams       []string `json:"team_ids,omitempty"`
	Problems    []string `json:"problem_ids,omitempty"`
	Submissions []string `json:"submission_ids,omitempty"`
}

// CommentaryOf returns the object of what somebody says.
func CommentaryOf(id string, c contest.CommentaryData, clock contest.Clock) Commentary {
	out := Commentary{
		ID: id, Time: AbsTime(c.Time), ContestTime: RelTime(clock.At(c.Time)), Message: c.Message, Tags: append([]string{}, c.Tags...), Source: orNull(c.Source), Teams: c.Participants,
	}
	for _, slug := range c.Problems {
		out.Problems = append(out.Problems, ID(slug))
	}
	for _, number := range c.Submissions {
		out.Submissions = append(out.Submissions, strconv.FormatInt(number, 10))
	}
	return out
}

// Objects are the objects of the types of events, empty.
var Objects = map[string]any{
	TypeContest: Contest{}, TypeTypes: JudgementType{}, TypeLanguages: Language{}, TypeProblems: Problem{}, TypeGroups: Group{}, TypeOrganizations: Organization{},
	TypeTeams: Team{}, TypePersons: Person{}, TypeAccounts: Account{}, TypeCommentary: Commentary{}, TypeState: State{}, TypeSubmissions: Submission{}, TypeJudgements: Judgement{},
	TypeRuns: Run{}, TypeClarifications: Clarification{}, TypeAwards: Award{},
}

// newer are the properties that releases before 2026-01 do not know.
var newer = map[string][]string{
	TypeContest: {"scoreboard_thaw_time"}, TypeProblems: {"memory_limit", "output_limit", "code_limit"}, TypeJudgements: {"current"}, TypeOrganizations: {"country_subdivision"},
	TypeClarifications: {"to_team_ids", "to_group_ids"},
}

// Knows reports whether objects of a type may have a property in this form.
func (f Form) Knows(kind, property string) bool {
	if kind == TypeClarifications && property == "to_team_id" {
		return !f.modern()
	}
	if f.modern() || f.Version == V202601 && kind != TypeClarifications {
		return true
	}
	return !slices.Contains(newer[kind], property)
}
