package locale_test

import (
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"deepoj/web/locale"
)

func TestALanguageIsCalledAsThoseWhoSpeakItCallIt(t *testing.T) {
	tags := display.Supported.Tags()
	for _, tag := range []string{"pt-BR", "zh-TW", "zh-HK", "zh-Hans-SG", "en-x-lab", "de-CH-1996", "tlh", "und", "sr-Latn-ME", "es-419"} {
		tags = append(tags, language.Make(tag))
	}
	for _, tag := range tags {
		if got, want := locale.SelfName(tag.String()), display.Self.Name(tag); got != want {
			t.Errorf("%s is called %q; its line in selfnames.txt has to say %q", tag, got, want)
		}
	}
	if got := locale.SelfName("no language"); got != "" {
		t.Errorf("what is no language is called %q", got)
	}
}
