package locale

import (
	"testing"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

func TestAmountsReadWellInEveryLanguage(t *testing.T) {
	t.Parallel()
	en, zh, de := For("en"), For("zh-Hans"), other("de")
	for _, tt := range []struct{ got, want string }{
		{en.Bytes(64 << 10), "64 KiB"},
		{en.Bytes(1), "1 byte"},
		{en.Bytes(256 << 20), "256 MiB"},
		{en.Bytes(1536), "1.5 KiB"},
		{en.Bytes(0), "0 bytes"},
		{zh.Bytes(700), "700 字节"},
		{de.Bytes(1536), "1,5 KiB"},
		{en.Say("at most %s", Bytes(1536)), "at most 1.5 KiB"},
		{zh.Say("%s", Bytes(1)), "1 字节"},
		{Bytes(2).String(), "2 bytes"},
		{en.Used(0), "–"},
		{en.Used(100), "100 KiB"},
		{en.Memory(48_212), "47.1 MiB"},
		{en.Memory(262_144), "256 MiB"},
		{de.Memory(48_212), "47,1 MiB"},
		{en.Took(0), "0 ms"},
		{en.Took(time.Microsecond), "0.1 ms"},
		{en.Took(1_340 * time.Microsecond), "1.3 ms"},
		{en.Took(999_960 * time.Microsecond), "1 s"},
		{en.Took(1_234 * time.Millisecond), "1.234 s"},
		{de.Took(1_200 * time.Millisecond), "1,2 s"},
		{(*Locale)(nil).Took(2 * time.Second), "2 s"},
		{en.Percent(0.5), "50%"},
		{zh.Percent(1.0 / 3), "33%"},
		{de.Percent(0.25), "25\u00a0%"},
		{en.Points(50.0), "50"},
		{en.Points(new(33.25)), "33.25"},
		{en.Points((*float64)(nil)), "–"},
		{en.Points(1234.5), "1,234.5"},
		{de.Points(1234.5), "1.234,5"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

// other is a language of which there is no catalogue: only its numbers are its own.
func other(name string) *Locale {
	tag := language.Make(name)
	return &Locale{book: &book{name: name, tag: tag, printer: message.NewPrinter(tag)}}
}
