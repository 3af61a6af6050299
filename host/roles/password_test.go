package roles

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// starts makes the first account of a fresh database, and returns what is told, and the account's hash and whether its
// password is for once.
func starts(t *testing.T, file string) (told, hash string, once bool) {
	t.Helper()
	db, err := sql.Open(t.Context(), sql.Config{DSN: sqltest.DSN(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := Config{Options: Options{AdminPasswordFile: file}}
	if file != "" {
		if c.password, err = openPasswordFile(file); err != nil {
			t.Fatal(err)
		}
		defer c.password.close()
	}
	b := &base{Config: c, db: db, log: slog.New(slog.DiscardHandler)}
	if told, err = firstAdmin(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if again, err := firstAdmin(t.Context(), b); again != "" || err != nil {
		t.Errorf("the second start tells %q, %v", again, err)
	}
	u, err := db.Site.User(t.Context(), "admin")
	if err != nil {
		t.Fatal(err)
	}
	return told, u.PasswordHash, u.OneTime
}

func TestTheFirstPasswordIsPrintedWrittenOrGiven(t *testing.T) {
	t.Parallel()
	is := func(hash, password string) bool {
		right, err := people.CheckPassword(hash, password)
		return err == nil && right
	}
	told, hash, once := starts(t, "")
	if m := FirstPassword.FindStringSubmatch(told); m == nil || !once || !is(hash, m[1]) {
		t.Errorf("without a file %q is told, and the password is for once: %t", told, once)
	}

	file := filepath.Join(t.TempDir(), "password")
	told, hash, once = starts(t, file)
	text, err := os.ReadFile(file)
	info, _ := os.Stat(file)
	if password := strings.TrimSpace(string(text)); err != nil || !once || !is(hash, password) || strings.Contains(told, password) || info.Mode().Perm() != 0o600 {
		t.Errorf("with a file that was missing %q is told, and it has %q, mode %v, %v", told, text, info.Mode(), err)
	}

	if err := os.WriteFile(file, []byte("a battery of my own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if told, hash, once = starts(t, file); told != "" || once || !is(hash, "a battery of my own") {
		t.Errorf("with a password that is given %q is told, and it is for once: %t", told, once)
	}
}

func TestAFileOfAPasswordIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, open := filepath.Join(dir, "short"), filepath.Join(dir, "link"), filepath.Join(dir, "open")
	for name, text := range map[string]string{file: "short\n", open: "correct horse battery\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{link, open, dir, filepath.Join(dir, "no", "where")} {
		if _, err := openPasswordFile(wrong); err == nil || !strings.Contains(err.Error(), "--admin-password-file") {
			t.Errorf("%s is taken: %v", wrong, err)
		}
	}
	p, err := openPasswordFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.read(); err == nil || !strings.Contains(err.Error(), "at least 10") {
		t.Errorf("a short password: %v", err)
	}
	p.close()
	for text, want := range map[string]string{"qwertyuiop\n": "guessed first", "admin-of-this-site\n": "the name of the account"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err = openPasswordFile(file); err != nil {
			t.Fatal(err)
		}
		if _, err := p.read(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--admin-password-file") {
			t.Errorf("the password %q: %v, want %q", text, err, want)
		}
		p.close()
	}
	unused := filepath.Join(dir, "unused")
	if p, err = openPasswordFile(unused); err != nil {
		t.Fatal(err)
	}
	p.close()
	if _, err := os.Stat(unused); !os.IsNotExist(err) {
		t.Errorf("a file that got no password stays: %v", err)
	}
}

func TestTheFirstPasswordStandsInABlockBelowReady(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	var out bytes.Buffer
	b := &base{Config: Config{Out: &out}, log: slog.New(slog.DiscardHandler)}
	tellReady(ended, b, nil, "http://127.0.0.1:8080", "The first account is admin with the password abc (shown only now).\n")
	want := "\n    The first account is admin with the password abc (shown only now).\n    It is for one login, which asks for another: http://127.0.0.1:8080/login\n\n"
	if out.String() != want {
		t.Errorf("told %q, want %q", out.String(), want)
	}
}
