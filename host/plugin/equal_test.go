package plugin_test

import (
	"os"
	"strings"
	"testing"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

func TestEqualityDecidesOnlyWhereItIsPromised(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 60_000) // more than is compared at a time
	promise, points := abi.Manifest{EqualAccepts: true}, abi.Manifest{EqualAccepts: true, Needs: []string{"points"}}
	tests := map[string]struct {
		manifest       abi.Manifest
		output, answer string
		want           bool
	}{
		"equal":                       {promise, "1\n", "1\n", true},
		"empty":                       {promise, "", "", true},
		"long and equal":              {promise, long, long, true},
		"without the promise":         {abi.Manifest{}, "1\n", "1\n", false},
		"of one that gives points":    {points, "1\n", "1\n", false},
		"shorter":                     {promise, "1", "1\n", false},
		"longer":                      {promise, "1\n2", "1\n", false},
		"another byte":                {promise, "2\n", "1\n", false},
		"another byte at the end":     {promise, long[1:] + "x", long[1:] + "y", false},
		"another byte in a later one": {promise, long[:300_000] + "x" + long, long[:300_000] + "y" + long, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := check(t, "", tt.output, tt.answer)
			if _, err := c.Output.Seek(1, 0); err != nil { // offsets do not matter
				t.Fatal(err)
			}
			got, err := (&plugin.Module{Manifest: tt.manifest}).Settled(c)
			if err != nil || got != tt.want {
				t.Errorf("settled %t, %v", got, err)
			}
		})
	}
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if _, err := (&plugin.Module{Manifest: promise}).Settled(plugin.Check{Output: closed, Answer: closed}); err == nil {
		t.Error("files that cannot be read are settled")
	}
}
