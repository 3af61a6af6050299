package build

import (
	"context"
	"sync"

	"deepoj/sandbox"
)

// made is files that are put into box after box: packed once.
type made struct {
	files []sandbox.File

	mu     sync.Mutex
	packed *sandbox.Packed
}

// put puts the files into a box.
func (m *made) put(ctx context.Context, box *sandbox.Box) error {
	m.mu.Lock()
	if m.packed == nil {
		packed, err := sandbox.Pack(m.files...)
		if err != nil {
			m.mu.Unlock()
			return err
		}
		m.packed = packed
	}
	m.mu.Unlock()
	return box.PutPacked(ctx, m.packed)
}

// bytes is how much memory the files take, packed ones included.
func (m *made) bytes() int64 {
	n := int64(0)
	for _, f := range m.files {
		n += 2 * int64(len(f.Path)+len(f.Data))
	}
	return n
}
