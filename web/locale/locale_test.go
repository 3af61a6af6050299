package locale

import (
	"html/template"
	"testing"
	"time"
)

func TestSentencesAreSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	en, zh := For("en"), For("zh-Hans")
	var nobody *Locale
	for name, tt := range map[string]struct{ got, want string }{
		"a place":               {en.Say("%dth", int64(3)), "3rd"},
		"another place":         {en.Say("%dth", 112), "112th"},
		"one of a count":        {en.Say("%d days ago", 1), "1 day ago"},
		"a count of thousands":  {en.Say("%d days ago", 12345), "12,345 days ago"},
		"for programs":          {nobody.Say("%d days ago", 1), "1 day ago"},
		"what is in no file":    {zh.Say("quite unknown %s", "x"), "quite unknown x"},
		"a percent sign alone":  {en.Say("100 %"), "100 %"},
		"a word in a sentence":  {zh.Say("%s", Word("just now")), "刚刚"},
		"a number that names":   {en.Say("%s", ID(12345)), "12345"},
		"HTML around a name":    {string(en.Mark("<b>%s</b>", "<i>")), "<b>&lt;i&gt;</b>"},
		"HTML that is an input": {string(en.Mark("<b>%s</b>", template.HTML("<i>x</i>"))), "<b><i>x</i></b>"},
		"a number":              {en.Number(1234567), "1,234,567"},
		"a fraction":            {en.Number(1234.5), "1,234.5"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %q, want %q", name, tt.got, tt.want)
		}
	}
}

func TestTheBrowsersLanguagesChooseTheCatalogue(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "en", "zh-CN,zh;q=0.9,en;q=0.8": "zh-Hans", "en-US,en;q=0.9,zh;q=0.5": "en", "fi": "en", "fi, zh-SG;q=0.5": "zh-Hans", "\x00;;q=x": "en",
	} {
		if got := Accepted(header); got != want {
			t.Errorf("Accept-Language %q chooses %s, want %s", header, got, want)
		}
	}
}

func TestTimesAreWrittenByTheReadersClock(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 5, 36, 40, 0, time.UTC)
	for name, tt := range map[string]struct{ got, want string }{
		"nobody's clock":     {(*Locale)(nil).Time(at), "23 Nov 2026 05:36:40 UTC"},
		"Shanghai":           {For("en").In(Zone("Asia/Shanghai")).Time(at), "23 Nov 2026 13:36:40 UTC+8"},
		"Shanghai, Chinese":  {For("zh-Hans").In(Zone("Asia/Shanghai")).Time(at), "2026年11月23日 13:36:40 UTC+8"},
		"half hours":         {For("en").In(Zone("Asia/Kolkata")).Time(at), "23 Nov 2026 11:06:40 UTC+5:30"},
		"behind":             {For("en").In(Zone("America/New_York")).Time(at), "23 Nov 2026 00:36:40 UTC−5"},
		"in a sentence":      {For("en").In(Zone("Asia/Shanghai")).Say("closed at %s", When(at)), "closed at 23 Nov 2026 13:36:40 UTC+8"},
		"a span in sentence": {For("en").Say("in %s", 90*time.Minute), "in 90 min"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
	for _, name := range []string{"", "Local", "../etc/passwd", "Asia/Nowhere", "asia/shanghai"} {
		if zone := Zone(name); zone != nil {
			t.Errorf("there is a zone %q: %s", name, zone)
		}
	}
}

func BenchmarkASentence(b *testing.B) {
	zh := For("zh-Hans")
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			zh.Say("just now")
		}
	})
	b.Run("with a count", func(b *testing.B) {
		for b.Loop() {
			zh.Say("%d min ago", 5)
		}
	})
}
