package judging

import (
	"context"
	"fmt"
	"os"

	"deepoj/host/problem"
)

// File returns a file with the checked content of a file of a package, which the caller closes.
func (j *Judge) File(ctx context.Context, f problem.File) (*os.File, error) {
	file, err := j.cfg.Blobs.File(ctx, f.Digest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return file, nil
}
