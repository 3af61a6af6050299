package room

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// What the agent itself keeps in memory for a box is charged to no run: the files that
// were put into it, and the copy of an input. So each box has a share of the machine,
// and all boxes together have no more than half of it. What is collected has no more
// bytes than a share either, and is the client's then.

// LeastShare is the share of a box where many boxes share little.
const LeastShare = 64 << 20

// share is how many bytes a box may keep that no run is charged for.
func (h *Host) share() int64 {
	return max(h.machine.memoryBytes/int64(2*h.Config.Slots), LeastShare)
}

// boxBytes is how many bytes /box may hold.
func (r *Room) boxBytes() int64 { return min(r.tmpBytes, r.host.share()) }

// fewBytes are nothing to ask about.
const fewBytes = 1 << 20

// spare reports why there is no place in the share of a box for so many bytes more
// than /box has.
func (r *Room) spare(bytes int64) error {
	if bytes <= fewBytes {
		return nil
	}
	var st unix.Statfs_t
	if err := unix.Statfs("/box", &st); err != nil {
		return fmt.Errorf("look at /box: %w", err)
	}
	used := int64(st.Blocks-st.Bfree) * st.Bsize
	if share := r.host.share(); bytes > share-used {
		return fmt.Errorf("%d bytes, with %d in the box, are more than the %d that it may have on this machine: use fewer slots or a machine with more memory",
			bytes, used, share)
	}
	return nil
}
