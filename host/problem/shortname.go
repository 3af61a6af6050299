package problem

import (
	"regexp"
	"strings"
)

// Short names stand in addresses and in commands.
var (
	shortName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	noShortName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
)

// maxShortName is how many bytes a short name may have.
const maxShortName = 64

// IsShortName reports whether a problem may be called name: letters, digits, dots,
// hyphens and underscores, at most 64, the first of them a letter or digit.
func IsShortName(name string) bool { return len(name) <= maxShortName && shortName.MatchString(name) }

// ShortName returns what a problem is called whose folder or file has a name: "a+b (1)"
// gives "a-b-1". It is "problem" if nothing of the name can stay.
func ShortName(name string) string {
	name = strings.TrimLeft(noShortName.ReplaceAllString(name, "-"), "-._")
	if name = strings.TrimRight(name[:min(len(name), maxShortName)], "-"); name == "" {
		return "problem"
	}
	return name
}
