// Package web serves the pages and the HTTP API of Deep-OJ: it puts the addresses of all
// rooms together, and checks who may use which before one answers.
//
// It decides nothing about verdicts and executes nothing: it stores what people hand in through package sql and shows
// what the database says. Pages are rendered on the server and work without JavaScript; scripts only make them
// pleasant. What leaves the server has passed web/job/public.go, which takes away what contestants may not see.
//
// Traps of Fiber, for whoever writes a handler: the app runs with Immutable, so strings of a *fiber.Ctx may be kept,
// but its body may not; use c.UserContext(), which carries the deadline and the trace id, and never c.Context(), which
// is reused after the handler; a live stream notices a client that left only by a flush that fails.
//
//	addresses.go    the table of all addresses, and the router made of it
//	conn.go         connections that drop clients which stop reading
//	cors.go         what pages of other sites may do
//	dispatch.go     answers that the caller has, and packed ones
//	errorspage.go   the reasons of refusals
//	fault.go        how an error becomes an answer
//	guard.go        which names the server answers to, and pages of other sites
//	headers.go      header fields, in the description
//	health.go       what watches the server asks
//	identify.go     who sent a request
//	observe.go      a request's trace, deadline, line in the log and figures
//	openapi.go      the description of the API
//	parameters.go   query parameters and uploads, in the description
//	ratelimit.go    how many requests somebody may make
//	receive.go      the body of a request
//	schema.go       JSON schemas of what comes and goes
//	sure.go         asking whether what cannot be undone is meant
//	uploadlimit.go  who may send large bodies
//	web.go          the server and its rooms
package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"deepoj/sql"
	"deepoj/web/archive"
	"deepoj/web/callback"
	clicsroom "deepoj/web/clics"
	"deepoj/web/drafts"
	"deepoj/web/factors"
	"deepoj/web/job"
	judge0api "deepoj/web/judge0/api"
	peopleroom "deepoj/web/people"
	"deepoj/web/plugins"
	"deepoj/web/rounds"
	"deepoj/web/setters"
	"deepoj/web/site"
	"deepoj/web/solve"
	"deepoj/web/spaces"
	"deepoj/web/staff"
)

type (
	// Config is what a server is made with: see package site.
	Config = site.Config

	// Check is a check of /readyz.
	Check = site.Check

	// OIDC is a provider of OpenID Connect.
	OIDC = site.OIDC

	// Registration says who may make an account for themselves.
	Registration = site.Registration
)

// siteFiles is what `make build` puts together: style sheets, scripts and pictures, and the templates of pages.
//
//go:embed static templates/*.html
var siteFiles embed.FS

// roomsWords are what templates call of the rooms.
func roomsWords() template.FuncMap {
	all := template.FuncMap{}
	for _, words := range []template.FuncMap{peopleroom.Words, factors.Words, plugins.Words, setters.Words, spaces.Words, staff.Words} {
		maps.Copy(all, words)
	}
	return all
}

// Server serves pages and API on one address.
type Server struct {
	*site.Site
	people      *peopleroom.Room
	solve       *solve.Room
	spaces      *spaces.Room
	rounds      *rounds.Room
	archive     *archive.Room
	clics       *clicsroom.Room
	staff       *staff.Room
	judge0      *judge0api.Room
	app         *fiber.App
	ln          net.Listener
	hosts       hostPolicy
	origins     originPolicy
	job         *job.Room
	guests      bool   // somebody without an account may use the site
	whyGuests   string // or why not
	rates       struct{ address, user, key *limiter }
	caller      *callback.Caller
	setters     *setters.Room
	plugins     *plugins.Room
	drafts      *drafts.Room
	description []byte                 // of the API
	uploads     map[string]site.Upload // by METHOD /path
}

// New listens on cfg.Listen, so that a taken port is an error here, and prepares everything that [Server.Run] serves.
func New(cfg site.Config) (*Server, error) {
	shared, err := site.New(cfg, siteFiles, roomsWords())
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	cfg = shared.Config
	ln, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	host, _, _ := net.SplitHostPort(cfg.Listen)
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	shared.Bound = net.JoinHostPort(host, port)
	s := compose(shared)
	s.ln, s.hosts = patient{ln}, newHostPolicy(cfg.Listen, ln.Addr(), cfg.Hosts)
	s.origins = cfg.CORSOrigins
	s.guests, s.whyGuests = cfg.Guests()
	s.rates.address, s.rates.user, s.rates.key = newLimiter(time.Now, cfg.RatePerAddress), newLimiter(time.Now, cfg.RatePerUser), newLimiter(time.Now, cfg.RatePerKey)
	s.app = fiber.New(fiber.Config{
		BodyLimit:                    cfg.MaxBody,
		CaseSensitive:                true,
		DisableStartupMessage:        true,
		DisablePreParseMultipartForm: true,
		ErrorHandler:                 s.fail,
		IdleTimeout:                  2 * time.Minute,
		Immutable:                    true,
		ReadBufferSize:               16 << 10,
		ReadTimeout:                  30 * time.Second,
		StreamRequestBody:            true, // bounded by receive
	})
	s.app.Server().HeaderReceived = s.sizeLimit
	if err := s.routes(); err != nil {
		_ = ln.Close()
		return nil, fmt.Errorf("web: %w", err)
	}
	return s, nil
}

// compose makes the rooms, and what only this package needs.
func compose(shared *site.Site) *Server {
	cfg := shared.Config
	s := &Server{
		Site:   shared,
		job:    job.New(shared),
		caller: callback.New(cfg.CallbackAllow, cfg.CallbackPatience),
	}
	s.setters = setters.New(shared, s.job)
	s.plugins = plugins.New(shared, s.job, s.setters)
	s.people = peopleroom.New(shared, s.caller, s.job.Ended())
	s.solve = solve.New(shared, s.job)
	s.drafts = drafts.New(shared, s.job, s.setters, s.solve)
	s.spaces = spaces.New(shared, s.people, s.solve)
	s.rounds = rounds.New(shared, s.people)
	s.archive = archive.New(shared, s.setters)
	s.clics = clicsroom.New(shared, s.solve, s.rounds.Standings(), s.caller)
	s.staff = staff.New(shared, s.job)
	s.judge0 = judge0api.New(shared, s.job, s.caller)
	return s
}

// Addr returns the address that the server listens on, as HOST:PORT.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Guests reports whether somebody without an account may use the site, and why.
func (s *Server) Guests() (may bool, why string) { return s.guests, s.whyGuests }

// Run serves until ctx is done, then ends open streams, waits for open requests
// and returns nil. It must be called exactly once.
func (s *Server) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := s.app.Listener(s.ln); err != nil && ctx.Err() == nil {
			return fmt.Errorf("web: serve %s: %w", s.Addr(), err)
		}
		return nil
	})
	g.Go(func() error {
		if err := s.Store.Listen(ctx, sql.ChannelEvents, s.job.WakeStreams); err != nil && ctx.Err() == nil {
			return fmt.Errorf("web: listen for events: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		s.job.FollowJobs(ctx)
		return nil
	})
	g.Go(func() error { return s.rounds.Follow(ctx) })
	g.Go(func() error { return s.clics.Follow(ctx) })
	g.Go(func() error { return s.clics.TellHooks(ctx) })
	g.Go(func() error { return s.judge0.SendCallbacks(ctx) })
	g.Go(func() error { return s.people.SendWebhooks(ctx) })
	g.Go(func() error { return s.people.Letters.Send(ctx) })
	g.Go(func() error {
		<-ctx.Done()
		s.job.EndStreams()
		err := s.app.ShutdownWithTimeout(s.Config.Grace)
		_ = s.ln.Close() // closed already, unless serving had not begun
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("web: stop: %w", err)
		}
		return nil
	})
	return g.Wait()
}
