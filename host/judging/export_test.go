package judging

import (
	"context"
	"time"
)

// Look looks at the agent, which may take so long to answer.
func (f *Fallback) Look(ctx context.Context, patience time.Duration) { f.look(ctx, patience) }

// Crowd is what runs at the same time.
type Crowd struct{ crowd }

// NewCrowd returns one that nobody is part of.
func NewCrowd() Crowd { return Crowd{newCrowd()} }

// Join is for those who run with others, Clear for one who runs alone.
func (c Crowd) Join(ctx context.Context) (func(), error)  { return c.join(ctx) }
func (c Crowd) Clear(ctx context.Context) (func(), error) { return c.clear(ctx) }
