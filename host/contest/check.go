package contest

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"deepoj/host/judge"
)

// RoundCode is what the short name of a round consists of.
var RoundCode = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,34}[A-Za-z0-9_-]$`)

// Bounds of what is said of a round.
const (
	maxTitle    = 200 // bytes
	shortest    = time.Second
	longest     = 10_000 * time.Hour
	maxSettings = 64 << 10 // bytes
)

// Check reports the first setting of a round that makes no sense, as a [*judge.FieldError].
func Check(r *judge.Round) error {
	switch {
	case !RoundCode.MatchString(r.Code):
		return judge.Wrong("code", "invalid", "A short name has from 2 to 36 letters, digits, _, . and -, begins with a letter, a digit or _, and does not end with a dot.")
	case strings.TrimSpace(r.Title) == "" || !line(r.Title):
		return judge.Wrong("title", "invalid", "A title has up to %d bytes on one line.", maxTitle)
	case !line(r.FormalName):
		return judge.Wrong("formal_name", "invalid", "The formal name has up to %d bytes and no control characters.", maxTitle)
	case r.Kind != judge.RoundContest && r.Kind != judge.RoundAssignment:
		return judge.Wrong("kind", "invalid", "The kind is contest or assignment.")
	case r.Format != string(ICPC) && r.Format != string(IOI):
		return judge.Wrong("format", "invalid", "The format is icpc or ioi.")
	case len(r.Settings) > maxSettings:
		return judge.Wrong("settings", "too_long", "The settings of the format have at most %d bytes.", maxSettings)
	case r.Duration != nil && (*r.Duration < shortest || *r.Duration > longest):
		return judge.Wrong("duration_ms", "invalid", "A round lasts from %d to %d, or null for ever.", shortest.Milliseconds(), longest.Milliseconds())
	case r.Freeze != nil && (*r.Freeze < 0 || r.Duration != nil && *r.Freeze > *r.Duration):
		return judge.Wrong("freeze_ms", "invalid", "The freeze begins between the start and the end.")
	}
	cfg, err := ParseConfig(Format(r.Format), r.Settings)
	switch {
	case err != nil:
		return judge.Wrong("settings", "invalid", "The settings of the format cannot be used: %s.", err)
	case r.Follows && cfg.Format == IOI && cfg.IOI.Feedback.Veils():
		return judge.Wrong("settings", "follows", "A round that follows its space hides nothing of what members hand in: feedback has to be full.")
	// Ranks and scores would tell what the feedback does not.
	case cfg.Format == IOI && !cfg.IOI.Feedback.Verdict() && cfg.IOI.Board != BoardNone:
		return judge.Wrong("settings", "leaks", "With the feedback %s the board has to be none: ranks would tell the scores.", cfg.IOI.Feedback)
	}
	if end := ClockOf(r).End(); r.Thaw != nil && !end.IsZero() && r.Thaw.Before(end) {
		return judge.Wrong("thaw_at", "before_end", "The thaw is before the end of the round.")
	}
	return nil
}

// line reports whether a text is one line of a title.
func line(text string) bool {
	return len(text) <= maxTitle && utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })
}
