package judge

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Given is what whoever brings a package says of a problem whose format need not say
// it, such as a folder of tests. Zero values say nothing.
type Given struct {
	Title     string `json:"title,omitempty"`
	CPUMillis int64  `json:"cpu_ms,omitempty"`     // the time limit
	MemoryMiB int64  `json:"memory_mib,omitempty"` // the limit of memory
}

// The most that may be given.
const (
	MostGivenSeconds = 600
	MostGivenMiB     = 64 << 10
	MostGivenTitle   = 200 // bytes
)

// Check reports what of g no problem can have, by the name of its field: "title", "time" or "memory".
func (g Given) Check() (field string, err error) {
	switch {
	case len(g.Title) > MostGivenTitle || !utf8.ValidString(g.Title) || strings.ContainsFunc(g.Title, unicode.IsControl):
		return "title", fmt.Errorf("a title has at most %d bytes, on one line", MostGivenTitle)
	case g.CPUMillis < 0 || g.CPUMillis > MostGivenSeconds*1000:
		return "time", fmt.Errorf("a time limit has from 0.001 to %d seconds", MostGivenSeconds)
	case g.MemoryMiB < 0 || g.MemoryMiB > MostGivenMiB:
		return "memory", fmt.Errorf("a limit of memory has from 1 to %d MiB", MostGivenMiB)
	}
	return "", nil
}
