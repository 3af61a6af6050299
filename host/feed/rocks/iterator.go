package rocks

import (
	"container/heap"
	"fmt"
	"os"
	"slices"
)

// trailer is the end of an internal key: 8 bits of type, 56 bits of sequence number.
const trailer = 8

// Types of entries.
const (
	typeDeletion       = 0x0
	typeValue          = 0x1
	typeMerge          = 0x2
	typeSingleDeletion = 0x7
)

var typeNames = map[byte]string{
	typeMerge: "merge operands", 0xf: "range deletions", 0x11: "values in blob files",
	0x14: "deletions with timestamps", 0x16: "wide columns", 0x18: "values with a preferred sequence number",
}

// maxSources bounds how many tables are open at a time: each level but the first needs one.
const maxSources = 300

// A Range is of keys from From on and before To, in the order of the family; nil is no border.
type Range struct{ From, To []byte }

// An Iterator yields the live keys of a column family in order. It holds one block of each level and of each
// table on level 0, and serves one goroutine.
type Iterator struct {
	sources  []*source // a heap: the smallest internal key is first
	order    Order
	inflater inflater
	key      []byte
	value    []byte
	begun    bool
	err      error
}

// Iterate returns an iterator over the keys of a column family within r.
func (c *Checkpoint) Iterate(family string, r Range) (*Iterator, error) {
	f := c.families[family]
	if f == nil {
		return nil, unsupported("a checkpoint without the column family %s", family)
	}
	order := c.orders[f.comparator]
	if order == nil {
		return nil, unsupported("the comparator %.60s of the column family %s", f.comparator, family)
	}
	runs, err := f.runs(order)
	if err != nil {
		return nil, fmt.Errorf("column family %s: %w", family, err)
	}
	it := &Iterator{order: order}
	for _, run := range runs {
		s := &source{root: c.root, files: run, within: r, order: order, inflater: &it.inflater}
		ok, err := s.next()
		if ok {
			it.sources = append(it.sources, s)
			continue
		}
		s.table.close()
		if err != nil {
			it.Close()
			return nil, err
		}
	}
	heap.Init((*byKey)(it))
	return it, nil
}

// runs returns the tables as runs in which keys rise: each of level 0 alone, the other levels whole.
func (f *family) runs(order Order) ([][]*file, error) {
	levels := map[uint64][]*file{}
	for _, live := range f.files {
		levels[live.level] = append(levels[live.level], live)
	}
	var runs [][]*file
	for level, files := range levels {
		if level == 0 {
			for _, one := range files {
				runs = append(runs, []*file{one})
			}
			continue
		}
		slices.SortFunc(files, func(a, b *file) int { return compare(order, a.smallest, b.smallest) })
		for i, next := range files[1:] {
			if compare(order, files[i].largest, next.smallest) >= 0 {
				return nil, damaged("%s and %s overlap on level %d", files[i].name(), next.name(), level)
			}
		}
		runs = append(runs, files)
	}
	if len(runs) > maxSources {
		return nil, unsupported("%d tables and levels to merge, above %d: compact before the checkpoint", len(runs), maxSources)
	}
	return runs, nil
}

// compare orders internal keys: by key, and of one key the newest first.
func compare(order Order, a, b []byte) int {
	i, j := len(a)-trailer, len(b)-trailer
	if c := order(a[:i], b[:j]); c != 0 {
		return c
	}
	switch newer, older := u64(a[i:]), u64(b[j:]); {
	case newer > older:
		return -1
	case newer < older:
		return 1
	}
	return 0
}

// source is one run, read table after table.
type source struct {
	root     *os.Root
	files    []*file // those to come
	current  *file
	table    table
	within   Range
	order    Order
	inflater *inflater
}

// next goes to the next entry of the run; it is false behind the last one.
func (s *source) next() (bool, error) {
	for {
		if s.table.file != nil {
			ok, err := s.table.next()
			if err != nil {
				return false, fmt.Errorf("%s: %w", s.current.name(), err)
			}
			if ok && (s.within.To == nil || s.order(s.userKey(), s.within.To) < 0) {
				return true, nil
			}
			s.table.close()
			if ok {
				return false, nil
			}
		}
		if len(s.files) == 0 {
			return false, nil
		}
		s.current, s.files = s.files[0], s.files[1:]
		if s.within.From != nil && s.order(user(s.current.largest), s.within.From) < 0 {
			continue
		}
		if err := s.table.open(s.root, s.current, s.within.From, s.order, s.inflater); err != nil {
			return false, fmt.Errorf("%s: %w", s.current.name(), err)
		}
	}
}

func user(key []byte) []byte { return key[:len(key)-trailer] }

func (s *source) userKey() []byte { return user(s.table.entries.key) }

// byKey is the heap of an iterator's sources.
type byKey Iterator

func (h *byKey) Len() int      { return len(h.sources) }
func (h *byKey) Swap(i, j int) { h.sources[i], h.sources[j] = h.sources[j], h.sources[i] }
func (h *byKey) Less(i, j int) bool {
	return compare(h.order, h.sources[i].table.entries.key, h.sources[j].table.entries.key) < 0
}
func (h *byKey) Push(any) {} // none is added
func (h *byKey) Pop() any {
	last := len(h.sources) - 1
	s := h.sources[last]
	h.sources = h.sources[:last]
	return s
}

// Next goes to the next live key. It is false behind the last one, and after an error.
func (it *Iterator) Next() bool {
	for it.err == nil && len(it.sources) > 0 {
		if it.begun {
			it.advance()
		}
		if it.err != nil || len(it.sources) == 0 {
			break
		}
		s := it.sources[0]
		key := s.userKey()
		if it.begun {
			c := it.order(it.key, key)
			if c > 0 {
				it.err = fmt.Errorf("%s: %w", s.current.name(), damaged("its keys are out of order"))
				break
			}
			if c == 0 {
				continue // an older version
			}
		}
		it.begun = true
		it.key = append(it.key[:0], key...)
		switch kind := s.table.entries.key[len(key)]; kind {
		case typeValue:
			it.value = s.table.entries.value
			return true
		case typeDeletion, typeSingleDeletion:
		default:
			what := typeNames[kind]
			if what == "" {
				what = fmt.Sprintf("entries of type %d", kind)
			}
			it.err = fmt.Errorf("%s: %w", s.current.name(), unsupported("%s", what))
		}
	}
	it.key, it.value = nil, nil
	return false
}

// advance moves the first source on.
func (it *Iterator) advance() {
	s := it.sources[0]
	ok, err := s.next()
	switch {
	case err != nil:
		it.err = err
	case ok:
		heap.Fix((*byKey)(it), 0)
	default:
		heap.Pop((*byKey)(it))
	}
}

// Key is the current key, till the next call of Next.
func (it *Iterator) Key() []byte { return it.key }

// Value is the current key's value, till the next call of Next.
func (it *Iterator) Value() []byte { return it.value }

// Err is what ended the iteration, or nil at its end.
func (it *Iterator) Err() error { return it.err }

// Close closes the tables.
func (it *Iterator) Close() {
	for _, s := range it.sources {
		s.table.close()
	}
	it.sources = nil
	it.inflater.close()
}
