package site

import "testing"

func TestFiguresReadWell(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		UsedText(0): "–", UsedText(100): "100 KiB",
		BytesText(64 << 10): "64 KiB", BytesText(1): "1 byte", BytesText(256 << 20): "256 MiB", BytesText(1536): "1.5 KiB",
		MemoryText(512): "512 KiB", MemoryText(48_212): "47.1 MiB", MemoryText(262_144): "256 MiB",
		PointsText(50.0): "50", PointsText(new(33.25)): "33.25", PointsText((*float64)(nil)): "–",

		Plural(1, "test", "tests"): "1 test", Plural(int64(0), "test", "tests"): "0 tests",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
