package locale

import (
	_ "embed" // for the names
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// selfNames has a line for each language, its tag and its name, as the package display of x/text has them. That package
// itself would bring what each of 200 languages calls all others, of more than two megabytes.
//
//go:embed selfnames.txt
var selfNames string

var selfNamed = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(selfNames) {
		tag, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		names[tag] = name
	}
	return names
})

// SelfName is what those who speak a language call it; "" if that is not known.
func SelfName(tag string) string {
	t, err := language.Parse(tag)
	if err != nil {
		return ""
	}
	base, script, region := t.Raw() // no variant has a name of its own
	if script != (language.Script{}) {
		region = language.Region{} // as the script says more
	}
	for t, err = language.Compose(base, script, region); err == nil && t != language.Und; t = t.Parent() {
		if name, ok := selfNamed()[t.String()]; ok {
			return name
		}
	}
	return ""
}
