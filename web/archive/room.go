// Package archive takes contests in that were held elsewhere, as contest packages, and gives the logs of rounds out, which make
// such packages whole.
//
// Its files:
//
//	imports.go  contests that come in
//	log.go      the log of a round
//	packages.go the packages of problems that come with contests
//	room.go     what the room holds and answers to
package archive

import (
	"context"
	"io"

	"deepoj/host/contest/clics"
	"deepoj/sql"
	"deepoj/web/site"
)

// Room answers for contest packages.
type Room struct {
	*site.Site

	packages Packages
	turns    chan struct{} // a place in it is the right to have a whole contest in memory
}

// Packages are what takes packages of problems in.
type Packages interface {
	// Bring stores the job that takes an archive in, in the place of a version of which nothing is known.
	Bring(ctx context.Context, v site.Viewer, slug, instead string, from io.Reader) (sql.Receipt, error)
}

// New makes the room.
func New(shared *site.Site, packages Packages) *Room {
	return &Room{Site: shared, packages: packages, turns: make(chan struct{}, 1)}
}

// turn waits until nobody else has a whole contest in memory. Who is done calls what it returns.
func (s *Room) turn(ctx context.Context) (done func(), err error) {
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Addresses are the addresses of contest packages.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /contests/import", For: site.Setter, By: s.importPage},
		{Route: "POST /contests/import", For: site.Setter, Upload: site.PackageUpload, By: s.importForm},
		{Route: "POST /api/v1/contests", For: site.Setter, Upload: site.PackageUpload, Does: "Import a contest package of the ICPC into a space that one runs: a ZIP file; what is wrong is said for each object, and then nothing is imported; packages of problems in it are taken in by jobs", Query: "space code preview", Media: "application/zip", Out: contestImportJSON{}, By: s.apiImport},
		{Route: "GET /api/v1/rounds/:round/sources", For: site.Guest, Does: "What was handed in to a round, for its staff: an archive with an archive for each submission, by its number, as a contest package has them", Media: "application/zip", By: s.apiSources},
		{Route: "GET /api/v1/rounds/:round/log", For: site.Guest, Does: "The log of a round, for its staff: a line of JSON for each line, oldest first, in which participants have their codes", Media: "application/x-ndjson", By: s.apiLog},
	}
}

// contestImportJSON is what came, or would come, of a contest package.
type contestImportJSON struct {
	Imported       bool          `json:"imported"` // false: a preview, or there are findings, and nothing has changed
	Round          string        `json:"round"`
	Space          string        `json:"space"`
	Title          string        `json:"title"`
	Problems       int           `json:"problems"`
	Participants   int           `json:"participants"`
	Submissions    int           `json:"submissions"`
	Clarifications int           `json:"clarifications"`
	Packages       []packageJSON `json:"packages"` // of problems, that are taken in besides
	Findings       []clics.Flaw  `json:"findings"`
	Notes          []string      `json:"notes"` // what is not as the package says
}
