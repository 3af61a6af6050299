package support

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hidden stands where a secret was.
const hidden = "(secret)"

// Mask takes secrets out of text.
type Mask struct {
	words    *strings.Replacer
	patterns []*regexp.Regexp
}

// usual are secrets that nobody has named: the password in an address, what follows a name that says password, the path
// of an address that could not be called, and tokens of requests. What the first group matches goes.
var usual = []*regexp.Regexp{
	regexp.MustCompile(`://[^/\s:@"']*:([^@/\s"']+)@`),
	regexp.MustCompile(`(?i)(?:password|passwd|secret_?key)["']?[=:]\s*["']?([^\s"'&,;]+)`),
	regexp.MustCompile(`\b(?:Put|Post) \\*"\w+://[^/"\s\\]+(/[^"\s\\]*)`),
	regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([\w+/=.~-]{8,})`),
}

// NewMask returns a mask for secrets, for the passwords that are in them if they are addresses of services, and for
// what the first group of each pattern matches. Each secret is found as it is and as JSON, Go and addresses spell it,
// also one in the other. Empty secrets are none.
func NewMask(secrets []string, patterns ...*regexp.Regexp) Mask {
	var forms []string
	for _, s := range secrets {
		for _, part := range append(passwords(s), s) {
			for _, once := range spellings(part) {
				forms = append(forms, spellings(once)...) // an error in a line, say
			}
		}
	}
	slices.Sort(forms)
	forms = slices.DeleteFunc(slices.Compact(forms), func(f string) bool { return f == "" })
	// Of two that begin at the same place the first counts: the longer one.
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, f := range forms {
		pairs = append(pairs, f, hidden)
	}
	return Mask{strings.NewReplacer(pairs...), append(slices.Clone(usual), patterns...)}
}

// Text returns text without the secrets.
func (m Mask) Text(text []byte) []byte {
	text = []byte(m.words.Replace(string(text)))
	for _, p := range m.patterns {
		var out bytes.Buffer
		from := 0
		for _, at := range p.FindAllSubmatchIndex(text, -1) {
			out.Write(text[from:at[2]])
			out.WriteString(hidden)
			from = at[3]
		}
		out.Write(text[from:])
		text = out.Bytes()
	}
	return text
}

// keyword is a password in a keyword string of PostgreSQL or in the query of an address.
var keyword = regexp.MustCompile(`(?i)\w*(?:password|secret|token)\s*=\s*('(?:\\.|[^'\\])*'|[^\s&]+)`)

// passwords returns the passwords in the address of a service: of a URL, also
// one that names several hosts, or of a keyword string.
func passwords(address string) (out []string) {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		authority := rest
		if end := strings.IndexAny(rest, "/?#"); end >= 0 && strings.Contains(rest[:end], "@") {
			authority = rest[:end]
		}
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			_, word, _ := strings.Cut(authority[:at], ":")
			out = append(out, word)
		}
	}
	for _, m := range keyword.FindAllStringSubmatch(address, -1) {
		word := m[1]
		out = append(out, word)
		if strings.HasPrefix(word, "'") {
			word = strings.Trim(word, "'")
			out = append(out, word, strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(word))
		}
	}
	for _, word := range slices.Clone(out) {
		if plain, err := url.PathUnescape(word); err == nil {
			out = append(out, plain)
		}
		if plain, err := url.QueryUnescape(word); err == nil {
			out = append(out, plain)
		}
	}
	return out
}

// spellings returns s as it is found in logs and files.
func spellings(s string) []string {
	out := []string{
		s, strings.Trim(strconv.Quote(s), `"`), strings.Trim(strconv.QuoteToASCII(s), `"`),
		url.QueryEscape(s), url.PathEscape(s), strings.TrimPrefix(url.UserPassword("", s).String(), ":"),
	}
	for _, html := range []bool{false, true} {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(html)
		if e.Encode(s) == nil {
			out = append(out, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`))
		}
	}
	return out
}
