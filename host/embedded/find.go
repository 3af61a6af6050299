package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// ErrNoPostgres and ErrNoRedis say that a program is not installed, and how to install it.
var (
	ErrNoPostgres = errors.New("no PostgreSQL found (initdb and postgres): install it with: apt-get install postgresql, or set DATABASE_URL")
	ErrNoRedis    = errors.New("no redis-server found: install it with: apt-get install redis-server, or set REDIS_URL, or run with DELIVERY=postgres")
)

// Programs of PostgreSQL that are used.
const (
	initdbName   = "initdb"
	postgresName = "postgres"
	redisName    = "redis-server"
)

// debianPostgres is where Debian keeps the server programs, which it does not put on PATH.
const debianPostgres = "/usr/lib/postgresql/*/bin"

// Postgres binaries older than this are not used: logical slots cannot be bounded before 13 (max_slot_wal_keep_size).
const oldestMajor = 13

// Binaries are the programs of one PostgreSQL installation.
type Binaries struct {
	Dir     string // the folder that holds initdb and postgres
	Version string // such as "15.18"
	Major   int    // such as 15
}

// FindPostgres returns the PostgreSQL programs of the folder dir, or with an empty dir those on PATH, or the newest
// below /usr/lib/postgresql. With a major above 0 only that version will do, because a cluster can be run only by the
// major version that made it. The error is [ErrNoPostgres] when there are none.
func FindPostgres(ctx context.Context, dir string, major int) (Binaries, error) {
	var found []Binaries
	for _, d := range postgresDirs(dir) {
		b, err := inspect(ctx, d)
		if err != nil {
			if dir != "" {
				return Binaries{}, fmt.Errorf("PostgreSQL in %s: %w", dir, err)
			}
			continue
		}
		if b.Major == major || major == 0 && b.Major >= oldestMajor {
			return b, nil
		}
		found = append(found, b)
	}
	switch {
	case len(found) == 0:
		return Binaries{}, ErrNoPostgres
	case major > 0:
		return Binaries{}, fmt.Errorf("the cluster was made by PostgreSQL %d, found is %s: install it with: apt-get install postgresql-%d: %w",
			major, found[0].Version, major, ErrNoPostgres)
	default:
		return Binaries{}, fmt.Errorf("PostgreSQL %s is too old, %d is needed: %w", found[0].Version, oldestMajor, ErrNoPostgres)
	}
}

// postgresDirs lists the folders to look into, best first.
func postgresDirs(dir string) []string {
	if dir != "" {
		return []string{dir}
	}
	var dirs []string
	for _, p := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(p) {
			dirs = append(dirs, p)
		}
	}
	installed, err := filepath.Glob(debianPostgres)
	if err != nil { // the pattern is a constant
		return dirs
	}
	slices.SortFunc(installed, func(a, b string) int { return majorOf(b) - majorOf(a) })
	return append(dirs, installed...)
}

// majorOf returns the version that a folder such as /usr/lib/postgresql/15/bin is for, or 0.
func majorOf(bin string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return n
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[^\s]*)`)

// inspect asks the postgres program in dir for its version.
func inspect(ctx context.Context, dir string) (Binaries, error) {
	// The folder on PATH may hold links; the programs' siblings lie where they lead.
	if real, err := filepath.EvalSymlinks(filepath.Join(dir, postgresName)); err == nil {
		dir = filepath.Dir(real)
	}
	for _, name := range []string{initdbName, postgresName} {
		if err := executable(filepath.Join(dir, name)); err != nil {
			return Binaries{}, err
		}
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, postgresName), "--version").Output()
	if err != nil {
		return Binaries{}, fmt.Errorf("ask %s for its version: %w", filepath.Join(dir, postgresName), err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return Binaries{}, fmt.Errorf("%s gives no version: %q", filepath.Join(dir, postgresName), out)
	}
	major, err := strconv.Atoi(string(m[2]))
	if err != nil {
		return Binaries{}, fmt.Errorf("version %q: %w", m[1], err)
	}
	return Binaries{Dir: dir, Version: string(m[1]), Major: major}, nil
}

// FindRedis returns the path of redis-server: path itself if it is given, else the one on PATH or in /usr/bin,
// /usr/local/bin or /usr/sbin. The error is [ErrNoRedis] when there is none.
func FindRedis(path string) (string, error) {
	if path != "" {
		if err := executable(path); err != nil {
			return "", fmt.Errorf("redis-server: %w", err)
		}
		return path, nil
	}
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/bin", "/usr/local/bin", "/usr/sbin") {
		p := filepath.Join(dir, redisName)
		if filepath.IsAbs(p) && executable(p) == nil {
			return p, nil
		}
	}
	return "", ErrNoRedis
}

// executable reports whether path is a file that may be run.
func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return &fs.PathError{Op: "run", Path: path, Err: fs.ErrPermission}
	}
	return nil
}
