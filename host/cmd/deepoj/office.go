package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/keyring"
	"deepoj/host/launch"
	"deepoj/host/restore"
	"deepoj/host/roles"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/web/client"
)

// office is where staff and administrators do their work: on the database itself, or by asking a server.
type office interface {
	Queues(ctx context.Context) ([]judge.Queue, error)
	SetQueue(ctx context.Context, q judge.Queue) error
	PauseQueue(ctx context.Context, name string, paused bool) error
	Move(ctx context.Context, verb moveVerb, id int64) error
	MoveBefore(ctx context.Context, id, before int64) error

	DeadLetters(ctx context.Context, all bool, limit int) ([]sql.DeadLetter, error)
	DeadLetter(ctx context.Context, id int64) (sql.DeadLetter, []sql.Attempt, error)
	Replay(ctx context.Context, id int64) error
	ReplayAll(ctx context.Context, reason string) (int, error)
	Discard(ctx context.Context, id int64, why string) error

	Rejudge(ctx context.Context, ids []int64) (generations map[int64]int32, err error)
	StartRejudge(ctx context.Context, r sql.RejudgeRequest) (sql.RejudgeSet, error)
	RejudgeSets(ctx context.Context) ([]sql.RejudgeSet, error)
	RejudgeSet(ctx context.Context, id int64) (sql.RejudgeSet, []change, error)
	ResolveRejudge(ctx context.Context, id int64, apply bool) error

	Users(ctx context.Context, role judge.Role, prefix string) ([]judge.User, error)
	CreateUser(ctx context.Context, name string, role judge.Role) (password string, err error)
	ResetPassword(ctx context.Context, name string) (password string, err error)
	TakeFactorsOff(ctx context.Context, name string) error
	SetRole(ctx context.Context, name string, role judge.Role) error
	Disable(ctx context.Context, name string, disabled bool) error
	AuditLog(ctx context.Context, f sql.AuditFilter) ([]sql.AuditEntry, error)

	// Of keys, a user "" is whoever asks, whom a database does not know.
	Keys(ctx context.Context, user string) ([]judge.Key, error)
	CreateKey(ctx context.Context, k judge.Key) (id int64, secret string, err error)
	RevokeKey(ctx context.Context, user string, id int64) error

	Invariants(ctx context.Context) ([]jobs.AuditRow, error)

	// EachLog calls fn with the log of each round, and what its boards were when they were last shown.
	EachLog(ctx context.Context, fn func(round string, lines []restore.Line, shown []judge.BoardSnapshot) error) error
}

// moveVerb is what can be done with a job that waits, beside moving it before another.
type moveVerb string

const (
	release   moveVerb = "release"
	immediate moveVerb = "immediate"
	delay     moveVerb = "delay"
	withdraw  moveVerb = "delete"
	undo      moveVerb = "undo"
)

// officeRun is what a verb does there.
type officeRun func(ctx context.Context, c *command.Call, o office) error

// atOffice runs a verb at the server or on the database that is meant: by a flag, then by DEEPOJ_URL, then by
// DATABASE_URL or a Deep-OJ that runs on the data folder, then by the newest login.
func atOffice(f *command.Flags, run officeRun) command.Run {
	at, load, data := serverFlags(f), settingsFlag(f), dataFlag(f)
	return func(ctx context.Context, c *command.Call) error {
		named, here := *at.address != "" || *at.token != "", f.Given("data") || f.Given("config")
		if named && here {
			return errors.New("say where: --server and --token ask a server, --data and --config mean a database")
		}
		if named || !here && c.Variable(variableURL) != "" {
			return askServer(ctx, c, at, run)
		}
		l, err := load(c)
		if err != nil {
			return err
		}
		if !here && l.DatabaseURL == "" && !runsOn(*data) {
			if ring, err := keyring.Open(keyring.File(c.Getenv)); err == nil && ring.Default() != "" {
				return askServer(ctx, c, at, run)
			}
		}
		db, err := roles.OpenDatabase(ctx, &l.Settings, *data)
		if err != nil && !here && l.DatabaseURL == "" {
			return fmt.Errorf("%w, or ask a server: --server, %s or `deepoj login` name it", err, variableURL)
		} else if err != nil {
			return err
		}
		defer db.Close()
		return run(ctx, c, database{db.Site, db.Rounds})
	}
}

// runsOn reports whether a Deep-OJ runs, or ran, on a data folder, or one cannot look.
func runsOn(data string) bool {
	_, err := os.Lstat(filepath.Join(data, launch.InstanceFile))
	return !errors.Is(err, fs.ErrNotExist)
}

func askServer(ctx context.Context, c *command.Call, at server, run officeRun) error {
	address, token, err := at.at(c)
	if err != nil {
		return err
	}
	s, err := client.New(address, client.WithToken(token))
	if err != nil {
		return err
	}
	o := &remote{s: s, in: login{asker: newAsker(c), address: address}}
	return remedied(errors.Join(run(ctx, c, o), o.end()), address, token)
}

// inOffice is atOffice for a verb without flags of its own.
func inOffice(run officeRun) func(*command.Flags) command.Run {
	return func(f *command.Flags) command.Run { return atOffice(f, run) }
}

// eachIn is each at an office, for a verb without flags of its own.
func eachIn(done string, act func(ctx context.Context, o office, id int64) error) func(*command.Flags) command.Run {
	return inOffice(each(done, act))
}
