package settings

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is how the text of a setting fills a field.
type value struct {
	field any // pointer to it
	set   func(text string) error
	path  bool // it names a file or folder, and is absolute in the field
}

// read fills a field with what a text means. The error completes the sentence that begins with the setting.
func read[T any](field *T, meaning func(text string) (T, error)) value {
	return value{field: field, set: func(text string) error {
		v, err := meaning(text)
		if err == nil {
			*field = v
		}
		return err
	}}
}

// about is a description of one of several alike.
func about(doc, what string) string { return fmt.Sprintf(doc, what) }

// bad is the error of a setting.
func bad(name, text, why string) error { return fmt.Errorf("%s=%s: %s", name, text, why) }

func inSeconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

func text(field *string) value {
	return read(field, func(text string) (string, error) { return text, nil })
}

// file names a file or a folder.
func file(field *string) value {
	v := read(field, func(text string) (string, error) {
		if text == "" {
			return "", nil
		}
		return filepath.Abs(text)
	})
	v.path = true
	return v
}

// words are separated by spaces.
func words(field *[]string) value {
	return read(field, func(text string) ([]string, error) { return strings.Fields(text), nil })
}

func oneOf(field *string, allowed ...string) value {
	return read(field, func(text string) (string, error) {
		if !slices.Contains(allowed, text) {
			return "", fmt.Errorf("must be one of %s", strings.Join(allowed, ", "))
		}
		return text, nil
	})
}

func truth(field *bool) value {
	return read(field, func(text string) (bool, error) {
		if text != "true" && text != "false" {
			return false, errors.New("must be one of true, false")
		}
		return text == "true", nil
	})
}

func whole[T int | int64](field *T, least int64) value {
	return read(field, func(text string) (T, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < least || int64(T(n)) != n {
			return 0, fmt.Errorf("must be a whole number of at least %d", least)
		}
		return T(n), nil
	})
}

// mostSeconds is how long a time in seconds is at most: what no clock overflows by.
const mostSeconds = int64(1) << 32

func seconds(field *time.Duration, least int64) value {
	return read(field, func(text string) (time.Duration, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < least || n > mostSeconds {
			return 0, fmt.Errorf("must be a whole number of at least %d", least)
		}
		return time.Duration(n) * time.Second, nil
	})
}

// span is a time that is not nothing.
func span(field *time.Duration) value {
	return read(field, func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return 0, errors.New("must be a positive duration such as 1s")
		}
		return d, nil
	})
}

// kept is how long something is kept; 0 = for ever.
func kept(field *time.Duration) value {
	return read(field, func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, errors.New("must be 0 or a duration such as 720h")
		}
		return d, nil
	})
}

func share(field *float64) value {
	return read(field, func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0 && x <= 1) {
			return 0, errors.New("must be a number above 0 and up to 1")
		}
		return x, nil
	})
}

// prefixes are addresses and ranges of them.
func prefixes(field *[]netip.Prefix) value {
	return read(field, func(text string) (all []netip.Prefix, err error) {
		for word := range strings.FieldsSeq(text) {
			p, err := netip.ParsePrefix(word)
			if a, aerr := netip.ParseAddr(word); aerr == nil {
				p, err = netip.PrefixFrom(a, a.BitLen()), nil
			}
			if err != nil {
				return nil, fmt.Errorf("must be addresses or ranges such as 10.1.0.0/16, separated by spaces: %w", err)
			}
			all = append(all, p.Masked())
		}
		return all, nil
	})
}

// originForm is an origin as browsers send it, or with *. in front of a name for every name below.
var originForm = regexp.MustCompile(`^https?://((\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?$`)

// origins are those whose pages may use the API.
func origins(field *[]string) value {
	return read(field, func(text string) (all []string, err error) {
		for word := range strings.FieldsSeq(text) {
			origin := strings.ToLower(word)
			if https := strings.HasPrefix(origin, "https:"); https && strings.HasSuffix(origin, ":443") || !https && strings.HasSuffix(origin, ":80") {
				origin = origin[:strings.LastIndex(origin, ":")] // browsers leave it out
			}
			if origin != "*" && !originForm.MatchString(origin) {
				return nil, fmt.Errorf("%q must be an origin as browsers send it: http or https, a name, maybe with *. in front, maybe a port, and no path, such as https://ide.example.org; or * alone", word)
			}
			all = append(all, origin)
		}
		if len(all) > 1 && slices.Contains(all, "*") {
			return nil, errors.New("* allows every origin: it must stand alone")
		}
		return all, nil
	})
}

// address is where something listens, or "".
func address(field *string) value {
	return read(field, func(text string) (string, error) {
		if _, port, err := net.SplitHostPort(text); text != "" && (err != nil || port == "") {
			return "", errors.New("must be HOST:PORT, such as 127.0.0.1:9180")
		}
		return text, nil
	})
}

// base is the address of a site, without a slash at the end, or "".
func base(field *string, example string) value {
	return read(field, func(text string) (string, error) {
		text = strings.TrimRight(text, "/")
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "") {
			return "", fmt.Errorf("must be like %s, without a path", example)
		}
		return text, nil
	})
}

// mailbox is an address of e-mail, perhaps with a name, or "".
func mailbox(field *string) value {
	return read(field, func(text string) (string, error) {
		if _, err := mail.ParseAddress(text); text != "" && err != nil {
			return "", errors.New("must be like Deep-OJ <judge@example.org>")
		}
		return text, nil
	})
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// leastToken is how many bytes a token has at least.
const leastToken = 16

func token(field *string) value {
	return read(field, func(text string) (string, error) {
		if text != "" && (len(text) < leastToken || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })) {
			return "", fmt.Errorf("must be at least %d printable characters without spaces, such as of `openssl rand -hex 24`", leastToken)
		}
		return text, nil
	})
}

// TimeFactors multiply the time limits of languages, by their ids.
type TimeFactors map[string]float64

// maxTimeFactor is the most that a time limit is multiplied with.
const maxTimeFactor = 100

func factors(field *TimeFactors) value { return read(field, ParseTimeFactors) }

// ParseTimeFactors reads factors such as "python=2 java=1.5".
func ParseTimeFactors(text string) (TimeFactors, error) {
	all := TimeFactors{}
	for word := range strings.FieldsSeq(text) {
		language, number, ok := strings.Cut(word, "=")
		x, err := strconv.ParseFloat(number, 64)
		if !ok || language == "" || err != nil || !(x > 0 && x <= maxTimeFactor) {
			return nil, fmt.Errorf("%q must be a language and a number above 0 and up to %d, such as python=2", word, maxTimeFactor)
		}
		all[language] = x
	}
	return all, nil
}

// Client has the certificates that the files hold, or is nil when none is named. The
// settings in its errors begin with prefix, such as "REDIS".
func (t TLS) Client(prefix string) (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil // no certificates are the answer, not a failure
	}
	ca, cert, key := prefix+"_TLS_CA", prefix+"_TLS_CERT", prefix+"_TLS_KEY"
	out, err := Authorities(ca, t.CA)
	if err != nil {
		return nil, err
	}
	if out == nil {
		out = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, fmt.Errorf("%s and %s: set both or none", cert, key)
	}
	if t.Cert != "" {
		own, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", cert, key, err)
		}
		out.Certificates = []tls.Certificate{own}
	}
	return out, nil
}

// Authorities has the certificates in the file that a setting names, or is nil when it names none.
func Authorities(setting, name string) (*tls.Config, error) {
	if name == "" {
		return nil, nil // no authorities are the answer, not a failure
	}
	pem, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if !out.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %s holds no certificate in PEM", setting, name)
	}
	return out, nil
}
