package roles

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"deepoj/host/judge"
	"deepoj/host/people"
)

// firstAccount tells the one password that is ever printed.
const firstAccount = "The first account is admin with the password %s (shown only now).\n"

// FirstPassword matches that line; its group is the password.
var FirstPassword = func() *regexp.Regexp {
	before, after, _ := strings.Cut(firstAccount, "%s")
	return regexp.MustCompile(regexp.QuoteMeta(before) + `(\S+)` + regexp.QuoteMeta(strings.TrimSuffix(after, "\n")))
}()

// passwordFile has the password of the first account, or gets it. It is opened before root is given up, so that it may
// lie where only root may go.
type passwordFile struct{ file *os.File }

// openPasswordFile opens a file for its owner alone, and makes it where it is missing.
func openPasswordFile(path string) (*passwordFile, error) {
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--admin-password-file: %w", err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no file", path)
	case info.Mode().Perm()&0o077 != 0:
		err = fmt.Errorf("others may read %s: chmod 600 it", path)
	}
	if err != nil {
		_ = f.Close() // it was not used
		return nil, fmt.Errorf("--admin-password-file: %w", err)
	}
	return &passwordFile{f}, nil
}

// passwordFileOf returns the file that the launcher, or this process, has opened; nil if there is none.
func passwordFileOf(c Config) *passwordFile {
	if fd := c.Options.AdminPasswordFD; fd > 0 {
		return &passwordFile{os.NewFile(uintptr(fd), "admin password")}
	}
	return c.password
}

// close closes the file, and removes it if it has nothing: there was an account already.
func (p *passwordFile) close() {
	if info, err := p.file.Stat(); err == nil && info.Size() == 0 {
		_ = os.Remove(p.file.Name()) // a file of nothing tells nobody anything
	}
	_ = p.file.Close() // what was written is synced
}

// read returns the password, "" if the file has nothing.
func (p *passwordFile) read() (string, error) {
	text, err := io.ReadAll(io.NewSectionReader(p.file, 0, 4096))
	if err != nil || len(text) == 0 {
		return "", err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	line = strings.TrimRight(line, "\r")
	wrong, err := people.CheckNewPassword("password", line, judge.User{Name: people.FirstName})
	if err != nil {
		return "", err
	}
	if wrong != nil {
		return "", fmt.Errorf("--admin-password-file: the first line is no password for the account %s: %s", people.FirstName, wrong.Remedy)
	}
	return line, nil
}

// write keeps the password.
func (p *passwordFile) write(password string) error {
	if _, err := p.file.WriteAt([]byte(password+"\n"), 0); err != nil {
		return err
	}
	return p.file.Sync()
}
