package site

import (
	"testing"
	"time"
)

func TestFiguresReadWell(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		UsedText(0): "–", UsedText(100): "100 KiB",
		BytesText(64 << 10): "64 KiB", BytesText(1): "1 byte", BytesText(256 << 20): "256 MiB", BytesText(1536): "1.5 KiB",
		MemoryText(512): "512 KiB", MemoryText(48_212): "47.1 MiB", MemoryText(262_144): "256 MiB",
		Ordinal(1): "1st", Ordinal(2): "2nd", Ordinal(3): "3rd", Ordinal(11): "11th", Ordinal(112): "112th", Ordinal(101): "101st",
		PointsText(50.0): "50", PointsText(new(33.25)): "33.25", PointsText((*float64)(nil)): "–",
		WaitText(1500 * time.Millisecond): "2 s", WaitText(3 * time.Minute): "3 min", WaitText(3 * time.Hour): "3 h",
		agoText(0): "just now", agoText(90 * time.Second): "1 min ago", agoText(72 * time.Hour): "3 days ago",
		Plural(1, "test", "tests"): "1 test", Plural(int64(0), "test", "tests"): "0 tests",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
