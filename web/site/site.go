package site

import (
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"

	"deepoj/sql"
)

// Site is what every room of the site shares. A room embeds it beside what is its own.
type Site struct {
	Config  Config
	Log     *slog.Logger
	Store   *sql.Site
	Catalog *catalog
	Depth   *KeptTwice[int64] // about how many jobs wait
	Count   *Counters
	Bound   string // HOST:PORT that the server listens on, with the port that it got

	views  *views
	assets *assets
}

// New makes what the rooms share. Files hold what is served as it is, in the folder
// static, and the templates; words are the functions of rooms that templates call.
func New(cfg Config, files fs.FS, words template.FuncMap) (*Site, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	assets, err := loadAssets(files)
	if err != nil {
		return nil, fmt.Errorf("static files: %w", err)
	}
	views, err := loadViews(assets, files, words)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	count, err := newCounters(cfg.Registry)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	if !assets.hasEditor() {
		cfg.Log.Warn("the source editor is not built, so the submit page shows a plain text field: run `make build`")
	}
	return &Site{
		Config: cfg, Log: cfg.Log, Store: cfg.Store, Catalog: newCatalog(cfg.Store, cfg.Live), Depth: KeepTwice(cfg.Store, sql.Reader.Ready, depthAge),
		Count: count, views: views, assets: assets,
	}, nil
}
