package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
)

// statusPath is where a feed says how far it is, at metrics_listen and at its socket.
const statusPath = "/status"

// answer is what is said there.
type answer struct {
	Feeds []judge.FeedStatus `json:"feeds"`
}

// serve answers at an address until ctx ends.
func serve(ctx context.Context, ln net.Listener, reg *prometheus.Registry, said func() []judge.FeedStatus) error {
	return telemetry.Figures{Registry: reg, Pages: map[string]func() any{statusPath: func() any { return answer{said()} }}}.Serve(ctx, ln)
}

// longestSocket is how long the path of a socket may be, on every system.
const longestSocket = 100

// socketOf is where the feed with a checkpoint answers whoever is on its machine; "" = the path is too long for one.
func socketOf(checkpoint string) string {
	path := strings.TrimSuffix(checkpoint, filepath.Ext(checkpoint)) + ".sock"
	if len(path) > longestSocket {
		return ""
	}
	return path
}

// listenAtSocket listens where `deepoj feed status` asks. It returns nil if the path is too long, and an error if a feed
// is there that answers.
func listenAtSocket(ctx context.Context, checkpoint string) (net.Listener, error) {
	path := socketOf(checkpoint)
	if path == "" {
		return nil, nil // none is the answer, not a failure
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("checkpoint_path: %w", err)
	}
	if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path); err == nil {
		return nil, errors.Join(fmt.Errorf("checkpoint_path=%s: another feed runs with it: stop that one, or give this one files of its own: "+
			"checkpoint_path, wal_dir and postgres_slot", checkpoint), conn.Close())
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of a feed that was killed
		return nil, fmt.Errorf("socket of the feed: %w", err)
	}
	before := syscall.Umask(0o177) // nobody else may ask
	defer syscall.Umask(before)
	ln, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("socket of the feed: %w", err)
	}
	return ln, nil
}
