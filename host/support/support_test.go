package support

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deepoj/host/support/supporttest"
)

func text(s string) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestAPartThatFailsKeepsNoOtherOut(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	failed, err := Write(t.Context(), &b, "bundle", time.Now(), NewMask([]string{"hush"}),
		Part{"first.txt", text("one\n")},
		Part{"second.txt", func(_ context.Context, w io.Writer) error {
			fmt.Fprintln(w, "half")
			return errors.New("cannot ask hush")
		}},
		Part{"third.txt", text("three\n")})
	if err != nil || len(failed) != 1 || failed[0].Error() != "second.txt: cannot ask (secret)" {
		t.Fatalf("failed = %v, %v", failed, err)
	}
	got, err := supporttest.Files(&b)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"first.txt": "one\n", "second.txt": "half\n", "third.txt": "three\n",
		"errors.txt": "second.txt: cannot ask (secret)\n",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestASecretIsFoundHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	const word = `p3"zw\t <&>%/?é@`
	mask := NewMask([]string{word})
	asJSON, err := json.Marshal(map[string]string{"msg": "it is " + word + "."})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"as it is":                word,
		"in JSON":                 string(asJSON),
		"quoted by Go":            fmt.Sprintf("err=%q", "x"+word),
		"quoted in ASCII":         fmt.Sprintf("err=%+q", "x"+word),
		"in a query":              "?key=" + url.QueryEscape(word),
		"in a path":               "/" + url.PathEscape(word),
		"as the user of a URL":    (&url.URL{Scheme: "s", Host: "h", User: url.UserPassword("u", word)}).String(),
		"next to another of them": word + word,
	} {
		got := string(mask.Text([]byte(text)))
		if !strings.Contains(got, hidden) || strings.Contains(got, "p3") || strings.Contains(got, "zw") {
			t.Errorf("%s: %s becomes %s", name, text, got)
		}
	}
}

func TestThePasswordInAnAddressIsASecretToo(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"a URL":                        "postgres://u:topsecret@h:5432/d?sslmode=require",
		"a URL that is escaped":        "postgres://u:tops%65cret@h/d",
		"a URL of several hosts":       "redis+sentinel://u:topsecret@h1:26379,h2:26379/mymaster/0",
		"a URL without a user":         "rediss://:topsecret@h",
		"a password that is unescaped": "redis://u:topsecret@/x@h/0",
		"the query of a URL":           "postgres://h/d?user=u&password=topsecret&sslmode=require",
		"keywords":                     "host=h password=topsecret dbname=d",
		"keywords with quotes":         `host=h password = 'topsecret' dbname=d`,
	} {
		got := string(NewMask([]string{address}).Text([]byte("cannot log in with topsecret")))
		if name == "a password that is unescaped" {
			got = strings.ReplaceAll(string(NewMask([]string{address}).Text([]byte("topsecret@/x"))), "@/x", "")
		}
		if strings.Contains(got, "topsecret") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestSecretsThatNobodyNamedAreMasked(t *testing.T) {
	t.Parallel()
	mask := NewMask(nil, regexp.MustCompile(`the first password is (\S+)`))
	for text, want := range map[string]string{
		"dial redis://u:hidden@h:1 failed":                                             "dial redis://u:(secret)@h:1 failed",
		`{"password":"hidden","user":"u"}`:                                             `{"password":"(secret)","user":"u"}`,
		"host=h password=hidden dbname=d":                                              "host=h password=(secret) dbname=d",
		"Authorization: Bearer abcdefgh1234":                                           "Authorization: Bearer (secret)",
		`err="call back: Put \"http://receiver.example:8/hidden/word?and=more\": EOF"`: `err="call back: Put \"http://receiver.example:8(secret)\": EOF"`,
		`{"err":"call back: Post \\"https://receiver.example/hidden\\": EOF"}`:         `{"err":"call back: Post \\"https://receiver.example(secret)\\": EOF"}`,
		"the first password is hidden and stays":                                       "the first password is (secret) and stays",
		`FATAL: password authentication failed for user "oj"`:                          `FATAL: password authentication failed for user "oj"`,
		"http://127.0.0.1:8080/metrics":                                                "http://127.0.0.1:8080/metrics",
	} {
		if got := string(mask.Text([]byte(text))); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

func TestTheEndOfALogIsWholeLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("first line\nsecond line\nthird line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{100: "first line\nsecond line\nthird line\n", 18: "third line\n", 11: "", 5: ""} {
		var b strings.Builder
		if err := Tail("log", path, limit).Collect(t.Context(), &b); err != nil || b.String() != want {
			t.Errorf("the last %d bytes: %q, %v; want %q", limit, b.String(), err, want)
		}
	}
	if err := Tail("log", path+".none", 9).Collect(t.Context(), io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log that is not there: %v", err)
	}
}

func TestAPartThatIsTooLongIsCutBetweenLines(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 1000) + "\n"
	var b bounded
	err := collect(t.Context(), Part{"long", func(_ context.Context, w io.Writer) error {
		for {
			if _, err := io.WriteString(w, line); err != nil {
				return err
			}
		}
	}}, &b)
	if !errors.Is(err, errTooLong) {
		t.Errorf("err = %v", err)
	}
	if n := len(b.Bytes()); n > partLimit || n < partLimit-2*len(line) || n%len(line) != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}
