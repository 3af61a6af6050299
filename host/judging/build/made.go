package build

import (
	"context"
	"sync"

	"deepoj/sandbox"
)

// made is files that are put into box after box: packed once, if they are in a cache or came packed.
type made struct {
	files []sandbox.File

	mu     sync.Mutex
	kept   bool            // in a cache
	packed *sandbox.Packed // nil until there is need
}

// put puts the files into a box.
func (m *made) put(ctx context.Context, box *sandbox.Box) error {
	packed, err := m.pack()
	if err != nil {
		return err
	}
	if packed == nil {
		return box.Put(ctx, m.files...)
	}
	return box.PutPacked(ctx, packed)
}

// pack returns the files packed, or nil if they are put into few boxes.
func (m *made) pack() (*sandbox.Packed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.packed == nil && m.kept {
		packed, err := sandbox.Pack(m.files...)
		if err != nil {
			return nil, err
		}
		m.packed = packed
	}
	return m.packed, nil
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
