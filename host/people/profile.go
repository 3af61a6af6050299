package people

import (
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"deepoj/host/judge"
)

const (
	maxDisplayName = 100 // characters
	maxEmail       = 254 // bytes: see RFC 5321, section 4.5.3.1.3
	maxLocalPart   = 64
)

// CleanDisplayName writes a display name as it is kept: composed, with single spaces.
func CleanDisplayName(name string) string {
	return norm.NFC.String(strings.Join(strings.FieldsFunc(name, unicode.IsSpace), " "))
}

// CheckDisplayName reports why an account may not have a display name, or nil. It is one line that shows as it is
// written: nothing in it turns the text around it, or hides.
func CheckDisplayName(name string) *judge.FieldError {
	switch {
	case !utf8.ValidString(name):
		return wrong("display_name", reasonInvalid, "The display name is not UTF-8.")
	case utf8.RuneCountInString(name) > maxDisplayName || len(name) > 4*maxDisplayName:
		return wrong("display_name", reasonTooLong, "A display name has up to %d characters.", maxDisplayName)
	case strings.ContainsFunc(name, hidden):
		return wrong("display_name", reasonInvalid, "A display name is one line of letters that can be seen.")
	}
	marks := 0
	for _, r := range name {
		if marks++; !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Me, r) {
			marks = 0
		}
		if marks > 4 {
			return wrong("display_name", reasonInvalid, "A letter of the display name has too many marks.")
		}
	}
	return nil
}

// hidden reports whether a character is not seen, or changes how those around it are. The two that join letters
// are needed in some scripts.
func hidden(r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	return r != joiner && r != nonJoiner && (unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)) || r == utf8.RuneError
}

// CleanEmail writes an address as it is kept: in small letters, for no provider tells them apart.
func CleanEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// CheckEmail reports why an account may not have an address, or nil. It is one that every mail server takes: ASCII,
// without a display name, comments or quotes.
func CheckEmail(email string) *judge.FieldError {
	at := strings.LastIndexByte(email, '@')
	parsed, err := mail.ParseAddress(email)
	switch {
	case email == "":
		return wrong("email", reasonEmpty, "Say the e-mail address.")
	case len(email) > maxEmail || at > maxLocalPart:
		return wrong("email", reasonTooLong, "An e-mail address has up to %d bytes before the @ and %d in all.", maxLocalPart, maxEmail)
	case at < 1 || err != nil || parsed.Address != email || parsed.Name != "" || strings.ContainsFunc(email, notInEmail) || !strings.Contains(email[at:], ".") && email[at:] != "@localhost":
		return wrong("email", reasonInvalid, "The e-mail address has to be like ann@example.org.")
	}
	return nil
}

func notInEmail(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),:;<>[\]`, r) }

// EmailDomain is what follows the @ of an address.
func EmailDomain(email string) string { return email[strings.LastIndexByte(email, '@')+1:] }

// MayRegister reports whether an address is of one of the domains.
func MayRegister(email string, domains []string) bool {
	return slices.ContainsFunc(domains, func(d string) bool { return strings.EqualFold(d, EmailDomain(email)) })
}
