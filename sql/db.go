// Package sql keeps everything that Deep-OJ must not lose in PostgreSQL, and is what people and programs do with it: the
// [Site], whose jobs, problems, spaces and accounts are here.
//
// The database decides, in one state machine of jobs. What becomes of a job that was handed in, such as who may write its
// verdict, is up to the [jobs.Queue], in package jobs, on the same database. [Open] returns both; whoever needs one of
// them gets that one.
//
// The package speaks no Redis and knows no sandbox. Statements of both lie in statements/*.sql and run as they stand, but
// for plain reads and writes, which lie in queries/*.sql and are typed by sqlc into internal/dbsqlc. Pools, notifications
// and what else both share are in internal/pg.
//
// Its files:
//
//	db.go           opens the database
//	migrate.go      brings the schema to the newest version; what the role may do beyond its database
//	away.go         whether the server is away
//	site.go         the site
//	submit.go       stores jobs
//	submitbatch.go  many in one statement
//	control.go      cancellations, and moves within the queue
//	deadletter.go   jobs that were given up
//	rejudge.go      generations and rejudge sets
//	reader.go       jobs as somebody may see them: events, places, figures of the queue
//	standing.go     where jobs of every kind stand, and lists of them
//	runs.go         keys and callbacks of runs
//	drafts.go       programs that setters try
//	queues.go       queues and their settings
//	workers.go      what workers run, and the languages that they offered
//	catalog.go      problems as lists, statistics and charts show them
//	versions.go     problems and their versions
//	pages.go        what people see of a version
//	messages.go     who reads what checkers say
//	setters.go      who owns and edits problems
//	plugins.go      plugins and bindings
//	spaces.go       spaces
//	accounts.go     accounts, also of other providers, and sessions
//	factors.go      second factors
//	register.go     display names and addresses, and accounts that their owners make
//	profiles.go     what others see of an account
//	letters.go      letters by e-mail, and the links in them
//	invitations.go  links that invite into spaces
//	roster.go       lists of people that are imported
//	keys.go         keys of the API
//	webhooks.go     webhooks
//	feed.go         what the change feed may read
//	auditlog.go     privileged acts
package sql

import (
	"context"
	"embed"
	"errors"

	"deepoj/sql/internal/pg"
	"deepoj/sql/jobs"
	"deepoj/sql/rounds"
)

// ErrNotFound is returned when the thing that was named does not exist.
var ErrNotFound = pg.ErrNotFound

// ErrQueueFull is returned by a submit beyond the queue's max_backlog. Its reason is judge.ReasonQueueFull.
var ErrQueueFull = errors.New("queue is full")

// ErrExists is returned when something of that name is already there.
var ErrExists = pg.ErrExists

//go:embed statements/*.sql
var statementFiles embed.FS

// Config says which database to use. Every field but DSN has a default.
type Config = pg.Config

// Channels on which others are told that there is something to do. A payload of "" on any means "look for yourself":
// the listener has just connected and may have missed something.
const (
	ChannelEvents  = pg.ChannelEvents
	ChannelPlugins = pg.ChannelPlugins
	ChannelStops   = pg.ChannelStops
)

// DB is a connection to the database, with the stores that share it. All of it is safe for concurrent use.
type DB struct {
	*pg.DB
	Site   *Site
	Queue  *jobs.Queue
	Rounds *rounds.Store
}

// Open connects to the database. It does not migrate it: see [DB.Migrate] and [Site.CheckSchema].
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db, err := pg.Open(ctx, cfg, statementFiles)
	if err != nil {
		return nil, err
	}
	return &DB{db, newSite(db), jobs.New(db), rounds.New(db)}, nil
}
