package web

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
	"deepoj/web/site"
)

// readyTime bounds the checks of /readyz.
const readyTime = 2 * time.Second

// healthz says that the process answers.
func (s *Server) healthz(c *fiber.Ctx) error {
	return c.JSON(fiber.Map{"status": "ok", "version": s.Config.Version})
}

// readyz says to anybody whether requests can be served, and to those whom it concerns what is missing. A program may
// ask without a Host header (HTTP/1.0), a browser cannot.
func (s *Server) readyz(c *fiber.Ctx) error {
	if host := c.Get(fiber.HeaderHost); host != "" && !s.hosts.mayRead(host) {
		return s.foreignHost("This server does not answer to that host name.")
	}
	ready, found := s.ready(c.UserContext())
	status := fiber.StatusOK
	if !ready {
		status = fiber.StatusServiceUnavailable
		c.Set(fiber.HeaderRetryAfter, "3")
	}
	if !s.insider(c) {
		return c.Status(status).JSON(fiber.Map{"status": found.Status})
	}
	return c.Status(status).JSON(found)
}

// readiness is what /readyz tells.
type readiness struct {
	Status  string       `json:"status"`  // ready, or not ready
	Missing []string     `json:"missing"` // names of checks that failed
	Checks  []site.Check `json:"checks"`
}

// Ready reports whether requests can be served, with the document that says what that rests on.
func (s *Server) Ready(ctx context.Context) (ready bool, document any) { return s.ready(ctx) }

func (s *Server) ready(ctx context.Context) (bool, readiness) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	checks := s.checks(ctx)
	ready, missing := true, []string{}
	for _, check := range checks {
		if !check.OK {
			missing = append(missing, check.Name)
			ready = ready && check.Optional
		}
	}
	word := "ready"
	if !ready {
		word = "not ready"
	}
	return ready, readiness{word, missing, checks}
}

// checks asks the database, then whoever was configured.
func (s *Server) checks(ctx context.Context) []site.Check {
	database := site.Check{Name: "postgres", OK: true}
	schema := site.Check{Name: "schema", OK: true}
	if err := s.Store.Ping(ctx); err != nil {
		database = site.Check{Name: "postgres", Detail: "PostgreSQL does not answer.", Remedy: "Start PostgreSQL, or correct DATABASE_URL."}
		schema = site.Check{Name: "schema", Detail: "unknown without the database"}
	} else if err := s.Store.CheckSchema(ctx); err != nil {
		schema = site.Check{Name: "schema", Detail: err.Error(), Remedy: "Run `deepoj migrate`."}
	}
	checks := []site.Check{database, schema, s.checkWorkers(ctx)}
	if !s.HasEditor() {
		checks = append(checks, site.Check{Name: "editor", Optional: true, Detail: "The source editor is not built.", Remedy: "Run `make build`."})
	}
	if s.Config.Ready != nil {
		checks = append(checks, s.Config.Ready(ctx)...)
	}
	return checks
}

// checkWorkers asks who could judge. Without a worker submissions are still
// taken in nothing, so this is worth naming but no reason to take the pages away.
func (s *Server) checkWorkers(ctx context.Context) site.Check {
	workers, err := s.Catalog.Live(ctx)
	if err != nil {
		return site.Check{Name: "workers", Optional: true, Detail: "unknown without the database"}
	}
	if len(workers) == 0 {
		return site.Check{Name: "workers", Optional: true, Detail: "No worker is alive.", Remedy: "Start `deepoj worker`."}
	}
	c := site.Check{Name: "workers", Optional: true, Detail: (*locale.Locale)(nil).Say("%d workers", len(workers))}
	lacks := map[string]int{}
	for _, w := range workers {
		if w.Unfit == "" {
			c.OK = true
		} else {
			lacks[w.Unfit]++
		}
	}
	for _, need := range slices.Sorted(maps.Keys(lacks)) {
		c.Detail += fmt.Sprintf("; %d of them without %s, taking no jobs", lacks[need], need)
		c.Remedy = "See /workers. A worker looks by itself whether what it lacks is back."
	}
	return c
}
