package userns

import "testing"

func TestSubordinateIDsAreFoundByNameOrNumber(t *testing.T) {
	tests := map[string]struct {
		text         string
		first, count int
	}{
		"by name":                 {"other:1:65536\nann:100000:65536\n", 100000, 65536},
		"by number":               {"1000:200000:70000\n", 200000, 70000},
		"too few":                 {"ann:100000:1000\n", 0, 0},
		"too few and then enough": {"ann:100000:1000\nann:300000:65536\n", 300000, 65536},
		"of others":               {"annette:100000:65536\n", 0, 0},
		"not a number":            {"ann:many:65536\nann:1:x\nann\n", 0, 0},
		"nothing":                 {"", 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if first, count := subordinate(tt.text, []string{"1000", "ann"}); first != tt.first || count != tt.count {
				t.Errorf("subordinate = %d, %d, want %d, %d", first, count, tt.first, tt.count)
			}
		})
	}
	for text, want := range map[string]int{
		"0 0 4294967295\n": 4294967295, "0 1000 1\n": 1, "0 1000 1\n1 100000 65536\n": 65537, "0 1000 1\n5 100000 65536\n": 1, "": 0,
	} {
		if n := mapped(text); n != want {
			t.Errorf("mapped(%q) = %d, want %d", text, n, want)
		}
	}
}
