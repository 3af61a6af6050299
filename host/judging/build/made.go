package build

import (
	"context"
	"sync"

	"deepoj/sandbox"
)

// made is files that are put into box after box: packed once, if they are in a cache.
type made struct {
	files []sandbox.File
	kept  bool // in a cache

	mu     sync.Mutex
	packed *sandbox.Packed
}

// put puts the files into a box.
func (m *made) put(ctx context.Context, box *sandbox.Box) error {
	if !m.kept {
		return box.Put(ctx, m.files...)
	}
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

// openFile is what an open file counts for, in bytes, so that a process does not run out of descriptors before it is out
// of the memory that it may use.
const openFile = 64 << 10

// bytes is how much memory the files take, packed ones included.
func (m *made) bytes() int64 {
	n := int64(openFile)
	for _, f := range m.files {
		n += 2 * int64(len(f.Path)+len(f.Data))
	}
	return n
}
