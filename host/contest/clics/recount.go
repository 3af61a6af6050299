package clics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
)

// Flaw is what is wrong with a package.
type Flaw struct {
	File    string `json:"file"`
	Object  string `json:"object,omitempty"` // its id
	Problem string `json:"problem"`
}

// references are the properties that name objects of other files.
var references = map[string]map[string]string{
	"teams.json":          {"organization_id": "organizations", "group_ids": "groups"},
	"submissions.json":    {"team_id": "teams", "problem_id": "problems", "language_id": "languages"},
	"judgements.json":     {"submission_id": "submissions", "judgement_type_id": "judgement-types"},
	"runs.json":           {"judgement_id": "judgements", "judgement_type_id": "judgement-types"},
	"clarifications.json": {"from_team_id": "teams", "to_team_id": "teams", "to_team_ids": "teams", "to_group_ids": "groups", "problem_id": "problems", "reply_to_id": "clarifications"},
	"awards.json":         {"team_ids": "teams"},
	"persons.json":        {"team_ids": "teams", "team_id": "teams"},
	"accounts.json":       {"team_id": "teams", "person_id": "persons"},
	"commentary.json":     {"team_ids": "teams", "problem_ids": "problems", "submission_ids": "submissions", "source_id": "persons"},
}

// Check returns what is wrong with a package: JSON that cannot be read, ids that are none or there twice, names of what there
// is not, files that are missing, and a scoreboard that the submissions and judgements of the package do not give.
func (p Package) Check() []Flaw {
	c := p.checking()
	c.strict = true
	c.sound()
	if len(c.found) == 0 {
		c.recount()
	}
	return c.sorted()
}

// Sound is Check of what belongs together: without the scoreboard, which some systems compute otherwise, and with ids of any
// letters, as some have them.
func (p Package) Sound() []Flaw {
	c := p.checking()
	c.sound()
	return c.sorted()
}

func (p Package) checking() *checking {
	return &checking{files: p, ids: map[string]map[string]bool{}, objects: map[string][]map[string]any{}}
}

func (c *checking) sound() {
	for _, name := range []string{"contest.json", "problems.json", "teams.json"} {
		if c.files[name] == nil {
			c.wrong(name, "", "it is missing")
		}
	}
	for _, name := range []string{"languages", "judgement-types", "problems", "groups", "organizations", "teams", "persons", "accounts", "submissions", "judgements", "runs", "clarifications", "awards", "commentary"} {
		c.read(name)
	}
	for file, names := range references {
		for _, o := range c.objects[strings.TrimSuffix(file, ".json")] {
			for property, of := range names {
				if property == "reply_to_id" && !c.strict {
					continue // whoever packed it may not have seen the question
				}
				c.refers(file, o, property, of)
			}
		}
	}
	for _, o := range c.objects["submissions"] {
		c.hasFiles(o)
	}
}

func (c *checking) sorted() []Flaw {
	slices.SortFunc(c.found, func(a, b Flaw) int {
		return strings.Compare(a.File+"\x00"+a.Object+"\x00"+a.Problem, b.File+"\x00"+b.Object+"\x00"+b.Problem)
	})
	return c.found
}

type checking struct {
	files   Package
	strict  bool // ids have the letters that they may have
	ids     map[string]map[string]bool
	objects map[string][]map[string]any
	found   []Flaw
}

// maxFlaws bounds what is said of a package.
const maxFlaws = 1000

func (c *checking) wrong(file, object, format string, args ...any) {
	if len(c.found) < maxFlaws {
		c.found = append(c.found, Flaw{file, object, fmt.Sprintf(format, args...)})
	}
}

// read reads the objects of an endpoint, if there are any.
func (c *checking) read(endpoint string) {
	file := endpoint + ".json"
	c.ids[endpoint] = map[string]bool{}
	raw := c.files[file]
	if raw == nil {
		return
	}
	var list []map[string]any
	if err := json.Unmarshal(raw, &list); err != nil {
		c.wrong(file, "", "it is no list of objects: %v", err)
		return
	}
	for i, o := range list {
		id, _ := o["id"].(string)
		switch {
		case c.strict && !identifier.MatchString(id), id == "":
			c.wrong(file, fmt.Sprintf("#%d", i+1), "%.64q is no id", id)
		case c.ids[endpoint][id]:
			c.wrong(file, id, "the id is there twice")
		}
		c.ids[endpoint][id] = true
	}
	c.objects[endpoint] = list
}

// refers refuses a property that names what there is not.
func (c *checking) refers(file string, o map[string]any, property, of string) {
	var names []any
	switch v := o[property].(type) {
	case nil:
		return
	case []any:
		names = v
	default:
		names = []any{v}
	}
	id, _ := o["id"].(string)
	for _, name := range names {
		if text, ok := name.(string); !ok || !c.ids[of][text] {
			c.wrong(file, id, "%s is %v, and there is no such object in %s.json", property, name, of)
		}
	}
}

// hasFiles refuses a submission whose files are named and not there.
func (c *checking) hasFiles(o map[string]any) {
	id, _ := o["id"].(string)
	files, _ := o["files"].([]any)
	for _, f := range files {
		file, _ := f.(map[string]any)
		name, _ := file["filename"].(string)
		if at := "submissions/" + id + "/" + name; name != "" && c.files[at] == nil {
			c.wrong("submissions.json", id, "%s is missing", at)
		}
	}
}

var relTime = regexp.MustCompile(`^(-?)([0-9]+):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,3}))?$`)

// ParseRelTime reads what RelTime writes.
func ParseRelTime(text string) (time.Duration, error) {
	m := relTime.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%.40q is no relative time", text)
	}
	var d time.Duration
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		n, err := strconv.ParseInt(m[i+2], 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%.40q is no relative time", text)
		}
		d += time.Duration(n) * unit
	}
	if m[5] != "" {
		n, _ := strconv.Atoi((m[5] + "00")[:3])
		d += time.Duration(n) * time.Millisecond
	}
	if m[1] != "" {
		d = -d
	}
	return d, nil
}

// Penalty reads a penalty time, which releases have in whole minutes or as a relative time, in minutes.
func Penalty(v any) (int64, error) {
	switch v := v.(type) {
	case nil:
		return 0, nil
	case float64:
		return int64(v), nil
	case string:
		d, err := ParseRelTime(v)
		return int64(d / time.Minute), err
	}
	return 0, fmt.Errorf("%v is no penalty time", v)
}

// recount computes the scoreboard from submissions and judgements, and compares it with the one that the package brings.
func (c *checking) recount() {
	raw := c.files["scoreboard.json"]
	if raw == nil {
		return
	}
	var about struct {
		Start    *Moment `json:"start_time"`
		Duration string  `json:"duration"`
		Type     string  `json:"scoreboard_type"`
		Penalty  any     `json:"penalty_time"`
	}
	if err := json.Unmarshal(c.files["contest.json"], &about); err != nil {
		c.wrong("contest.json", "", "it cannot be read: %v", err)
		return
	}
	if about.Type == "score" || about.Start == nil {
		return // points are the problems' own
	}
	minutes, err := Penalty(about.Penalty)
	if err != nil {
		c.wrong("contest.json", "", "%v", err)
		return
	}
	length, err := ParseRelTime(about.Duration)
	if err != nil {
		c.wrong("contest.json", "", "the duration: %v", err)
		return
	}
	entries, codes, err := c.entries(about.Start.Time, length)
	if err != nil {
		c.wrong("submissions.json", "", "%v", err)
		return
	}
	before := c.found
	var best []Flaw
	for i, rounding := range []contest.Rounding{contest.MinuteEach, contest.Second, contest.SecondThenMinute} { // a package does not say which
		cfg, err := contest.ParseConfig(contest.ICPC, []byte(fmt.Sprintf(`{"penalty_minutes":%d,"rounding":%q}`, minutes, rounding)))
		if err != nil {
			c.wrong("contest.json", "", "%v", err)
			return
		}
		state := contest.New(cfg)
		if _, err := state.Together(entries...); err != nil {
			c.wrong("submissions.json", "", "%v", err)
			return
		}
		c.found = nil
		c.compare(raw, state.Board(contest.Query{}), codes, rounding)
		if i == 0 || len(c.found) < len(best) {
			best = c.found
		}
	}
	c.found = append(before, best...)
}

// entries are what the package says for the fold, and the codes of participants by the numbers that they get.
func (c *checking) entries(start time.Time, length time.Duration) (out []contest.Entry, codes map[int64]string, err error) {
	out = append(out, contest.Round{Start: start, Duration: length})
	for _, o := range c.objects["groups"] {
		id, _ := o["id"].(string)
		out = append(out, contest.Group{ID: id, Ranked: true})
	}
	codes = map[int64]string{}
	numbers := map[string]int64{}
	for i, o := range c.objects["teams"] {
		id, _ := o["id"].(string)
		name, _ := o["display_name"].(string)
		if name == "" {
			name, _ = o["name"].(string)
		}
		hidden, _ := o["hidden"].(bool)
		codes[int64(i+1)], numbers[id] = id, int64(i+1)
		out = append(out, contest.Participant{ID: int64(i + 1), Name: name, Ranked: true, Hidden: hidden})
	}
	for i, o := range c.objects["problems"] {
		id, _ := o["id"].(string)
		label, _ := o["label"].(string)
		out = append(out, contest.Problem{ID: id, Label: label, Ordinal: i})
	}
	handed := map[string]int64{}
	for i, o := range c.objects["submissions"] {
		text, _ := o["contest_time"].(string)
		d, err := ParseRelTime(text)
		if err != nil {
			return nil, nil, fmt.Errorf("submission %v: %w", o["id"], err)
		}
		id, _ := o["id"].(string)
		team, _ := o["team_id"].(string)
		problem, _ := o["problem_id"].(string)
		handed[id] = int64(i + 1)
		out = append(out, contest.Submission{ID: int64(i + 1), Participant: numbers[team], Problem: problem, Time: start.Add(d)})
	}
	return append(append(out, c.judgements(handed)...), c.added(numbers)...), codes, nil
}

// LogFile is where a package of ours has the log of its round, as one line of JSON for each line.
const LogFile = "deepoj/log.ndjson"

// added is what staff added to rows, which only the log of a round says.
func (c *checking) added(numbers map[string]int64) (out []contest.Entry) {
	for line := range bytes.SplitSeq(c.files[LogFile], []byte("\n")) {
		var l struct {
			Kind   contest.Kind            `json:"kind"`
			Object string                  `json:"object"`
			Data   contest.ParticipantData `json:"data"`
		}
		if !bytes.Contains(line, []byte(`"participant"`)) || json.Unmarshal(line, &l) != nil || l.Kind != contest.KindParticipant || numbers[l.Object] == 0 {
			continue
		}
		out = append(out, contest.Adjustment{Participant: numbers[l.Object], Minutes: l.Data.AddedMinutes, Points: l.Data.AddedPoints})
	}
	return out
}

// judgements are those that count: the current ones, or the last of each submission where that is not said.
func (c *checking) judgements(handed map[string]int64) (out []contest.Entry) {
	verdicts := map[string]judge.Verdict{}
	for _, o := range c.objects["judgement-types"] {
		id, _ := o["id"].(string)
		solved, _ := o["solved"].(bool)
		costs, said := o["penalty"].(bool)
		switch {
		case solved:
			verdicts[id] = judge.AC
		case id == "JE":
			verdicts[id] = judge.JE
		case said && !costs:
			verdicts[id] = judge.CE
		default:
			verdicts[id] = judge.WA
		}
	}
	for i, o := range c.objects["judgements"] {
		kind, _ := o["judgement_type_id"].(string)
		of, _ := o["submission_id"].(string)
		current, said := o["current"].(bool)
		if kind == "" || said && !current {
			continue
		}
		out = append(out, contest.Judgement{Submission: handed[of], Generation: i + 1, Verdict: verdicts[kind], Current: true})
	}
	return out
}

// toldRow is a row of a scoreboard that a package brings.
type toldRow struct {
	Rank  *int   `json:"rank"`
	Team  string `json:"team_id"`
	Score struct {
		Solved int `json:"num_solved"`
		Total  any `json:"total_time"`
	} `json:"score"`
	Problems []struct {
		Problem string `json:"problem_id"`
		Judged  int    `json:"num_judged"`
		Pending int    `json:"num_pending"`
		Solved  bool   `json:"solved"`
	} `json:"problems"`
}

// ranksAmong are the ranks that rows have among those of their section, by the ranks that were computed among all teams. A section
// begins where the ranks that are told begin again, as those of teams out of competition do.
func ranksAmong(rows []toldRow, all map[string]contest.Row) []int {
	out := make([]int, len(rows))
	section := func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = 1
			for _, other := range rows[from:to] {
				if all[other.Team].Rank < all[rows[i].Team].Rank {
					out[i]++
				}
			}
		}
	}
	begin := 0
	for i := 1; i < len(rows); i++ {
		if now, before := rows[i].Rank, rows[i-1].Rank; now != nil && before != nil && *now < *before {
			section(begin, i)
			begin = i
		}
	}
	section(begin, len(rows))
	return out
}

// compare compares a scoreboard with the one that was computed.
func (c *checking) compare(raw []byte, b contest.Board, codes map[int64]string, rounding contest.Rounding) {
	var told struct {
		Rows []toldRow `json:"rows"`
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		c.wrong("scoreboard.json", "", "it cannot be read: %v", err)
		return
	}
	rows := map[string]contest.Row{}
	for _, r := range b.Rows {
		rows[codes[r.Participant]] = r
	}
	ranks := ranksAmong(told.Rows, rows)
	for i, r := range told.Rows {
		is, there := rows[r.Team]
		if !there {
			c.wrong("scoreboard.json", r.Team, "there is no such team")
			continue
		}
		rank := ranks[i]
		minutes := is.Total
		if rounding == contest.Second {
			minutes /= 60 // the whole ones, as one release has them
		}
		total, err := Penalty(r.Score.Total)
		if err != nil {
			c.wrong("scoreboard.json", r.Team, "%v", err)
			continue
		}
		if r.Rank != nil && *r.Rank != rank || r.Score.Solved != is.Solved || total != minutes {
			c.wrong("scoreboard.json", r.Team, "it says rank %s, %d solved and %d minutes; recounted it is rank %d, %d and %d", rankText(r.Rank), r.Score.Solved, total, rank, is.Solved, minutes)
		}
		cells := map[string]contest.Cell{}
		for i, p := range b.Problems {
			cells[p.ID] = is.Cells[i]
		}
		for _, p := range r.Problems {
			if cell := cells[p.Problem]; p.Judged != cell.Judged || p.Pending != cell.Pending || p.Solved != cell.Solved {
				c.wrong("scoreboard.json", r.Team, "of %s it says %d judged, %d pending, solved %t; recounted it is %d, %d, %t", p.Problem, p.Judged, p.Pending, p.Solved, cell.Judged, cell.Pending, cell.Solved)
			}
		}
	}
}

func rankText(rank *int) string {
	if rank == nil {
		return "none"
	}
	return strconv.Itoa(*rank)
}
