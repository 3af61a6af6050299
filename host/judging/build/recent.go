package build

import (
	"container/list"
	"sync"
)

// recent keeps in memory what was used last, up to a number of bytes. It may be used by several goroutines.
type recent[V any] struct {
	max int64

	mu    sync.Mutex
	bytes int64
	order *list.List // of recentEntry[V], the one that was used last in front
	by    map[string]*list.Element
}

type recentEntry[V any] struct {
	key   string
	value V
	bytes int64
}

func newRecent[V any](limit int64) *recent[V] {
	return &recent[V]{max: limit, order: list.New(), by: map[string]*list.Element{}}
}

func (r *recent[V]) get(key string) (value V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.by[key]
	if e == nil {
		return value, false
	}
	r.order.MoveToFront(e)
	return e.Value.(recentEntry[V]).value, true
}

// put keeps a value of so many bytes, in place of what was kept longest without being used. What would take more than a
// quarter of the place is not kept.
func (r *recent[V]) put(key string, value V, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.by[key]; e != nil {
		r.remove(e)
	}
	if bytes > r.max/4 {
		return
	}
	r.by[key] = r.order.PushFront(recentEntry[V]{key, value, bytes})
	for r.bytes += bytes; r.bytes > r.max; {
		r.remove(r.order.Back())
	}
}

func (r *recent[V]) remove(e *list.Element) {
	gone := r.order.Remove(e).(recentEntry[V])
	delete(r.by, gone.key)
	r.bytes -= gone.bytes
}
