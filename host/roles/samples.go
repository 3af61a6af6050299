package roles

import (
	"context"
	"log/slog"

	"deepoj/host/blob"
	"deepoj/host/intake"
	"deepoj/host/problem/samples"
	"deepoj/host/reading"
	"deepoj/sql"
)

// importSamples stores the sample problems that the database does not know.
func importSamples(ctx context.Context, b *base) error {
	known := map[string]bool{}
	ps, err := b.db.Site.Problems(ctx)
	if err != nil {
		return err
	}
	for _, p := range ps {
		known[p.Slug] = true
	}
	for _, slug := range samples.Slugs() {
		if known[slug] {
			continue
		}
		if err := importSample(ctx, b.db.Site, b.blobs, slug); err != nil {
			return err
		}
		b.log.InfoContext(ctx, "sample problem imported", slog.String("problem", slug))
	}
	return nil
}

func importSample(ctx context.Context, store *sql.Site, blobs blob.Store, slug string) error {
	p, err := reading.Config{}.Sample(ctx, slug)
	if err != nil {
		return err
	}
	defer p.Close()
	p.Slug = slug
	if _, err := p.Save(ctx, blobs); err != nil {
		return err
	}
	return intake.Save(ctx, store, p.Package, "deepoj")
}
