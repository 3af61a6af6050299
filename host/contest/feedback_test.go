package contest

import (
	"testing"
	"time"

	"deepoj/host/judge"
)

func TestFeedbackIsWhatTheSettingsTellUntilNothingIsHidden(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	minute := func(m int) time.Time { return start.Add(time.Duration(m) * time.Minute) }
	const never = 0
	for name, tt := range map[string]struct {
		format    Format
		settings  string
		freeze    int // minutes; 0 = never
		now, made int
		thawed    bool
		token     bool
		want      judge.Feedback
	}{
		"icpc tells all":                       {ICPC, `{}`, 60, 80, 70, false, false, judge.FeedbackFull},
		"icpc, not in the freeze":              {ICPC, `{"own_verdicts_in_freeze": false}`, 60, 80, 70, false, false, judge.FeedbackNone},
		"icpc, from before the freeze":         {ICPC, `{"own_verdicts_in_freeze": false}`, 60, 80, 50, false, false, judge.FeedbackFull},
		"icpc, over and frozen":                {ICPC, `{"own_verdicts_in_freeze": false}`, 60, 110, 70, false, false, judge.FeedbackNone},
		"icpc, thawed":                         {ICPC, `{"own_verdicts_in_freeze": false}`, 60, 110, 70, true, false, judge.FeedbackFull},
		"icpc without a freeze":                {ICPC, `{"own_verdicts_in_freeze": false}`, never, 80, 70, false, false, judge.FeedbackFull},
		"ioi tells all":                        {IOI, `{}`, never, 80, 70, false, false, judge.FeedbackFull},
		"ioi, groups":                          {IOI, `{"feedback": "groups"}`, never, 80, 70, false, false, judge.FeedbackGroups},
		"ioi, over":                            {IOI, `{"feedback": "none"}`, never, 100, 70, false, false, judge.FeedbackFull},
		"ioi, a moment before the end":         {IOI, `{"feedback": "none"}`, never, 99, 70, false, false, judge.FeedbackNone},
		"ioi, over, of the freeze":             {IOI, `{"feedback": "public"}`, 60, 110, 70, false, false, judge.FeedbackPublic},
		"ioi, over, from before the freeze":    {IOI, `{"feedback": "public"}`, 60, 110, 50, false, false, judge.FeedbackFull},
		"ioi, with a token":                    {IOI, `{"feedback": "public"}`, never, 80, 70, false, true, judge.FeedbackFull},
		"ioi, with a token, before the freeze": {IOI, `{"feedback": "none"}`, 60, 80, 50, false, true, judge.FeedbackFull},
	} {
		r := judge.Round{Start: &start, Duration: new(100 * time.Minute)}
		if tt.freeze != never {
			r.Freeze = new(time.Duration(tt.freeze) * time.Minute)
		}
		if tt.thawed {
			r.Thawed = new(minute(tt.now))
		}
		if got := config(t, tt.format, tt.settings).Feedback(ClockOf(&r), minute(tt.now), minute(tt.made), tt.token); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
