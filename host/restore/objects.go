package restore

import (
	"encoding/json"
	"regexp"
	"strings"

	"deepoj/host/contest/clics"
)

// The objects of the Contest API, as any system may write them: what is not there is zero. Times of two releases have two forms.
type (
	contestObject struct {
		ID         string        `json:"id"`
		Name       string        `json:"name"`
		FormalName string        `json:"formal_name"`
		Start      *clics.Moment `json:"start_time"`
		Duration   string        `json:"duration"`
		Freeze     string        `json:"scoreboard_freeze_duration"`
		Thaw       *clics.Moment `json:"scoreboard_thaw_time"`
		Type       string        `json:"scoreboard_type"`
		Penalty    any           `json:"penalty_time"`
	}
	stateObject struct {
		Thawed     *clics.Moment `json:"thawed"`
		Finalized  *clics.Moment `json:"finalized"`
		UpdatesEnd *clics.Moment `json:"end_of_updates"`
	}
	typeObject struct {
		ID      string `json:"id"`
		Solved  bool   `json:"solved"`
		Penalty *bool  `json:"penalty"`
	}
	organizationObject struct {
		ID          string       `json:"id"`
		ICPCID      string       `json:"icpc_id"`
		Name        string       `json:"name"`
		FormalName  string       `json:"formal_name"`
		Country     string       `json:"country"`
		Subdivision string       `json:"country_subdivision"`
		URL         string       `json:"url"`
		Twitter     string       `json:"twitter_account"`
		Logo        []fileObject `json:"logo"`
	}
	fileObject struct {
		Filename string `json:"filename"`
	}
	groupObject struct {
		ID     string `json:"id"`
		ICPCID string `json:"icpc_id"`
		Name   string `json:"name"`
		Type   string `json:"type"`
	}
	teamObject struct {
		ID           string   `json:"id"`
		ICPCID       string   `json:"icpc_id"`
		Name         string   `json:"name"`
		Label        string   `json:"label"`
		DisplayName  string   `json:"display_name"`
		Organization string   `json:"organization_id"`
		Groups       []string `json:"group_ids"`
		Hidden       bool     `json:"hidden"`
	}
	problemObject struct {
		ID          string   `json:"id"`
		Label       string   `json:"label"`
		Name        string   `json:"name"`
		Ordinal     *int     `json:"ordinal"`
		RGB         string   `json:"rgb"`
		Color       string   `json:"color"`
		TimeLimit   float64  `json:"time_limit"`
		MemoryLimit int64    `json:"memory_limit"`
		OutputLimit int64    `json:"output_limit"`
		CodeLimit   int64    `json:"code_limit"`
		Tests       int      `json:"test_data_count"`
		MaxScore    *float64 `json:"max_score"`

		Statement   []fileObject `json:"statement"`
		Attachments []fileObject `json:"attachments"`
	}
	submissionObject struct {
		ID          string       `json:"id"`
		Language    string       `json:"language_id"`
		Problem     string       `json:"problem_id"`
		Team        string       `json:"team_id"`
		Time        clics.Moment `json:"time"`
		ContestTime string       `json:"contest_time"`
	}
	judgementObject struct {
		ID         string        `json:"id"`
		Submission string        `json:"submission_id"`
		Type       string        `json:"judgement_type_id"`
		Score      *float64      `json:"score"`
		Current    *bool         `json:"current"`
		Start      *clics.Moment `json:"start_time"`
		End        *clics.Moment `json:"end_time"`
		MaxRunTime float64       `json:"max_run_time"`
	}
	runObject struct {
		Judgement string       `json:"judgement_id"`
		Ordinal   int          `json:"ordinal"`
		Type      string       `json:"judgement_type_id"`
		Time      clics.Moment `json:"time"`
		RunTime   float64      `json:"run_time"`
	}
	clarificationObject struct {
		ID      string       `json:"id"`
		From    string       `json:"from_team_id"`
		Team    string       `json:"to_team_id"`
		Teams   []string     `json:"to_team_ids"`
		Groups  []string     `json:"to_group_ids"`
		ReplyTo string       `json:"reply_to_id"`
		Problem string       `json:"problem_id"`
		Text    string       `json:"text"`
		Time    clics.Moment `json:"time"`
	}
)

// objects are those of a file of the package, which may not be there.
func objects[D any](r *reading, file string) (out []D) {
	if raw := r.files[file]; raw != nil {
		if err := json.Unmarshal(raw, &out); err != nil {
			r.wrong(file, "", "it cannot be read: %v", err)
		}
	}
	return out
}

// object is the only one of a file.
func object[D any](r *reading, file string) (out D) {
	if raw := r.files[file]; raw != nil {
		if err := json.Unmarshal(raw, &out); err != nil {
			r.wrong(file, "", "it cannot be read: %v", err)
		}
	}
	return out
}

// length is a length of contest time; "" = nil.
func (r *reading) length(property, text string) *int64 {
	if text == "" {
		return nil
	}
	d, err := clics.ParseRelTime(text)
	if err != nil {
		r.wrong("contest.json", "", "%s: %v", property, err)
		return nil
	}
	return new(d.Milliseconds())
}

var (
	threeDigits = regexp.MustCompile(`^#[0-9a-f]{3}$`)
	sixDigits   = regexp.MustCompile(`^#[0-9a-f]{6}$`)
)

// colour is one as rounds have it; what is none is "".
func colour(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	switch {
	case threeDigits.MatchString(text):
		return "#" + strings.Repeat(text[1:2], 2) + strings.Repeat(text[2:3], 2) + strings.Repeat(text[3:4], 2)
	case sixDigits.MatchString(text):
		return text
	}
	return ""
}

// micros is a time in seconds as the log has it.
func micros(seconds float64) int64 {
	if !(seconds > 0) || seconds > 1e6 {
		return 0
	}
	return int64(seconds*1e6 + 0.5)
}
