// Package keyring keeps keys of servers in the configuration of whoever uses the command line.
package keyring

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Entry is a key of one server.
type Entry struct {
	Server  string     `json:"server"` // as [Address] writes it
	User    string     `json:"user"`   // whose key it is
	ID      int64      `json:"id"`     // of the key, at the server; 0 = unknown
	Scope   string     `json:"scope"`
	Expires *time.Time `json:"expires_at,omitempty"` // nil = never
	Key     string     `json:"key"`
}

// Ring is what is kept. The newest entry is the last, and its server the one that is meant where none is named.
type Ring struct {
	Entries []Entry `json:"servers"`

	path string // "" = it cannot be kept
}

// File returns where keys are kept: deepoj/servers.json below $XDG_CONFIG_HOME or ~/.config; "" where there is neither.
func File(getenv func(string) (string, bool)) string {
	if dir, _ := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "deepoj", "servers.json")
	}
	if home, _ := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "deepoj", "servers.json")
	}
	return ""
}

// Open reads the keys of a file. A file that is not there has none, and one that others may read is refused.
func Open(path string) (*Ring, error) {
	r := &Ring{path: path}
	if path == "" {
		return r, nil
	}
	f, err := os.Open(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has keys, and others may read it (mode %04o): chmod 600 it, and revoke the keys if somebody may have done so", path, info.Mode().Perm())
	}
	if err := json.NewDecoder(f).Decode(r); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w; mend or remove it, and log in again", path, err)
	}
	return r, nil
}

// Path is the file that keeps the keys.
func (r *Ring) Path() string { return r.path }

// Default returns the server that is meant where none is named, or "".
func (r *Ring) Default() string {
	if len(r.Entries) == 0 {
		return ""
	}
	return r.Entries[len(r.Entries)-1].Server
}

// Find returns the key of a server.
func (r *Ring) Find(server string) (e Entry, found bool) {
	i := r.index(server)
	if i < 0 {
		return e, false
	}
	return r.Entries[i], true
}

func (r *Ring) index(server string) int {
	return slices.IndexFunc(r.Entries, func(e Entry) bool { return e.Server == server })
}

// Put keeps a key in place of the one that the server had.
func (r *Ring) Put(e Entry) error {
	if r.path == "" {
		return errors.New("there is no place to keep a key: set HOME or XDG_CONFIG_HOME")
	}
	if i := r.index(e.Server); i >= 0 {
		r.Entries = slices.Delete(r.Entries, i, i+1)
	}
	r.Entries = append(r.Entries, e)
	return r.save()
}

// Remove forgets the key of a server.
func (r *Ring) Remove(server string) error {
	i := r.index(server)
	if i < 0 {
		return nil
	}
	r.Entries = slices.Delete(r.Entries, i, i+1)
	return r.save()
}

// save writes the file whole or not at all, for its owner alone.
func (r *Ring) save() error {
	dir := filepath.Dir(r.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(r.path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), r.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Address writes the address of a server in one way, so that its key is found however it was written.
func Address(server string) (string, error) {
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("server address %q: %w", server, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("server address %q: want http://HOST:PORT or https://HOST, and no password, ? or # in it", u.Redacted())
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
	return u.Scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/"), nil
}
