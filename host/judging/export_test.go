package judging

import (
	"context"
	"time"
)

// Look looks at the agent, which may take so long to answer.
func (f *Fallback) Look(ctx context.Context, patience time.Duration) { f.look(ctx, patience) }
