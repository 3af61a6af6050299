package locale

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/number"
)

// Bytes is an amount of data that a sentence names: it is written in the unit that suits it.
type Bytes int64

func (b Bytes) String() string { return (*Locale)(nil).Bytes(int64(b)) }

// decimal writes a number with at most so many digits behind the point.
func (l *Locale) decimal(v float64, places int) string {
	return l.sentences().printer.Sprint(number.Decimal(v, number.MaxFractionDigits(places)))
}

// Bytes writes a size: whole mebibytes, kibibytes, or bytes.
func (l *Locale) Bytes(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return l.Number(n>>20) + " MiB"
	case n >= 1<<10:
		return l.decimal(float64(n)/1024, 1) + " KiB"
	}
	return l.Say("%d bytes", n)
}

// Memory writes an amount of memory, given in KiB.
func (l *Locale) Memory(kib int64) string {
	if kib < 1<<10 {
		return l.Number(kib) + " KiB"
	}
	return l.decimal(float64(kib)/1024, 1) + " MiB"
}

// Used writes the memory that a program used, given in KiB. Results of before every run had a figure may have none.
func (l *Locale) Used(kib int64) string {
	if kib == 0 {
		return "–"
	}
	return l.Memory(kib)
}

// Took writes the time that a program took: to a tenth of a millisecond, from a second on to the millisecond.
func (l *Locale) Took(d time.Duration) string {
	const tenth = time.Millisecond / 10
	if d > 0 {
		d = max(d, tenth)
	}
	if d = d.Round(tenth); d >= time.Second {
		return l.decimal(d.Seconds(), 3) + " s"
	}
	return l.decimal(float64(d)/float64(time.Millisecond), 1) + " ms"
}

// Percent writes a share from 0 to 1.
func (l *Locale) Percent(share float64) string {
	return l.sentences().printer.Sprint(number.Percent(share, number.MaxFractionDigits(0)))
}

// Points writes a score, without needless zeros. A nil score is a dash.
func (l *Locale) Points(score any) string {
	switch score := score.(type) {
	case *float64, float64:
		return l.Number(score)
	}
	return strings.TrimSpace(fmt.Sprint(score))
}
