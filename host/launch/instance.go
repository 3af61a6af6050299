package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Instance is what a running `deepoj up` writes to DATA/instance.json, so that the other commands find it.
type Instance struct {
	PID     int       `json:"pid"` // of the process in whose mount namespace the sockets are
	URL     string    `json:"url"`
	DSN     string    `json:"dsn"`            // as that process uses it; with its password, so only the owner reads the file
	Feed    string    `json:"feed,omitempty"` // the same for a change feed; empty without CHANGE_FEED
	Redis   string    `json:"redis"`          // empty when Redis is not used
	Data    string    `json:"data"`           // the data folder as that process sees it
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Guests  bool      `json:"guests"` // whether anybody who reaches the address may submit without an account

	// Metrics is where /metrics is, if not at URL, and MetricsToken what it asks for.
	Metrics      string `json:"metrics,omitempty"`
	MetricsToken string `json:"metrics_token,omitempty"`
}

// InstanceFile is the name of that file.
const InstanceFile = "instance.json"

// Write writes the file into a data folder.
func (i Instance) Write(dir string) error {
	data, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", InstanceFile, err)
	}
	tmp := filepath.Join(dir, InstanceFile+".new")
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", InstanceFile, err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, InstanceFile)); err != nil {
		return fmt.Errorf("write %s: %w", InstanceFile, err)
	}
	return nil
}

// FindInstance reads DATA/instance.json and makes its addresses usable from this
// process: what lies in a private mount namespace is reached through /proc.
func FindInstance(dir string) (Instance, error) {
	var i Instance
	path := filepath.Join(dir, InstanceFile)
	data, err := os.ReadFile(filepath.Clean(path))
	if errors.Is(err, os.ErrNotExist) {
		return i, fmt.Errorf("no Deep-OJ is running on %s: start one with `deepoj up --data %s`, or set DATABASE_URL", dir, dir)
	} else if err != nil {
		return i, fmt.Errorf("find the running Deep-OJ: %w%s", err, sudoRemedy(err, dir))
	}
	if err := json.Unmarshal(data, &i); err != nil {
		return i, fmt.Errorf("%s: %w", path, err)
	}
	if err := syscall.Kill(i.PID, 0); errors.Is(err, syscall.ESRCH) {
		return i, fmt.Errorf("the Deep-OJ of %s is not running any more: start it with `deepoj up --data %s`", dir, dir)
	}
	if _, err := os.Stat(filepath.Join(i.Data, InstanceFile)); err != nil {
		// Held open: this process may give up root, and then must not follow the links of another one any more.
		fd, err := openThrough(fmt.Sprintf("/proc/%d/root%s", i.PID, i.Data))
		if err != nil {
			return i, fmt.Errorf("reach the running Deep-OJ: %w%s", err, sudoRemedy(err, dir))
		}
		through := fmt.Sprintf("/proc/self/fd/%d", fd)
		there := strings.NewReplacer(i.Data, through, url.QueryEscape(i.Data), url.QueryEscape(through))
		i.DSN, i.Feed, i.Redis, i.Data = there.Replace(i.DSN), there.Replace(i.Feed), there.Replace(i.Redis), through
	}
	return i, nil
}

// sudoRemedy says what to do about an error that comes of not being the account of the data folder, or "".
func sudoRemedy(err error, dir string) string {
	if !errors.Is(err, os.ErrPermission) || os.Geteuid() == 0 {
		return ""
	}
	who := "another account"
	if info, err := os.Stat(dir); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			who = "the account " + OwnerName(st.Uid)
		}
	}
	return fmt.Sprintf("; the data folder is open to %s alone: run this with sudo", who)
}
