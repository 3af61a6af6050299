package contest

import (
	"math"
	"testing"
	"time"
)

func TestTokensComeAndGoAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	minutes := func(all ...int) (out []time.Duration) {
		for _, m := range all {
			out = append(out, time.Duration(m)*time.Minute)
		}
		return out
	}
	rule := func(settings string) TokenRules {
		r, ok := config(t, IOI, `{"mode": "max_tokened_last", "tokens": `+settings+`}`).TokenRules()
		if !ok {
			t.Fatalf("%s: there are no tokens", settings)
		}
		return r
	}
	const growing = `{"round": {"initial": 2, "number": 1, "every_s": 1800, "held": 3, "most": 5, "gap_s": 300}}`
	for name, tt := range map[string]struct {
		rules     string
		all, here []time.Duration
		now       int // minutes
		left      int
		wait      time.Duration
	}{
		"at the start":             {growing, nil, nil, 0, 2, 0},
		"before more come":         {growing, nil, nil, 29, 2, 0},
		"when more come":           {growing, nil, nil, 30, 3, 0},
		"no more than may be held": {growing, nil, nil, 200, 3, 0},
		"one was spent":            {growing, minutes(10), nil, 20, 1, 0},
		"one was spent just now":   {growing, minutes(10), nil, 12, 1, 3 * time.Minute},
		"all that there were":      {growing, minutes(1, 7), nil, 20, 0, 0},
		// Of three at 90 one is left at 91, and one more has come by 120.
		"spent late":                 {growing, minutes(90, 96), nil, 121, 2, 0},
		"in whatever order":          {growing, minutes(96, 90), nil, 121, 2, 0},
		"no more than may be spent":  {growing, minutes(30, 60, 90, 120, 150), nil, 280, 0, 0},
		"the problem has its own":    {`{"problem": {"initial": 1}}`, minutes(5), nil, 10, 1, 0},
		"of the problem it is spent": {`{"problem": {"initial": 1}}`, minutes(5), minutes(5), 10, 0, 0},
		"both have to allow it":      {`{"round": {"initial": 1}, "problem": {"initial": 4}}`, minutes(5), nil, 10, 0, 0},
		"any number":                 {`{}`, minutes(5), minutes(5), 10, math.MaxInt, 0},
	} {
		left, wait := rule(tt.rules).Left(tt.all, tt.here, time.Duration(tt.now)*time.Minute)
		if left != tt.left || wait != tt.wait {
			t.Errorf("%s: %d are left, to be spent in %v; want %d and %v", name, left, wait, tt.left, tt.wait)
		}
	}
	for _, wrong := range []string{`{"round": {"initial": -1}}`, `{"problem": {"held": -2}}`, `{"first": 1}`, `3`, `{"round": {"every": 3}}`} {
		if _, err := ParseConfig(IOI, []byte(`{"mode": "max_tokened_last", "tokens": `+wrong+`}`)); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
	if _, ok := config(t, IOI, `{"tokens": {}}`).TokenRules(); ok {
		t.Error("another mode has tokens")
	}
}
