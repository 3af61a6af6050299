package clics

import (
	"encoding/json"
	"maps"
	"slices"
)

// World is what there is at each endpoint of a contest: the last of all events. Its objects are the bytes of those.
type World struct {
	types map[string]*collection
}

// collection are the objects of a type, in the order in which they were told first.
type collection struct {
	order   []string
	objects map[string]json.RawMessage
	seqs    map[string]int64 // the line that told of each last, also that it is there no more
}

func newCollection() *collection {
	return &collection{objects: map[string]json.RawMessage{}, seqs: map[string]int64{}}
}

// Apply takes in what an event of a line says.
func (w *World) Apply(e Event, seq int64) {
	if w.types == nil {
		w.types = map[string]*collection{}
	}
	c := w.types[e.Type]
	if c == nil {
		c = newCollection()
		w.types[e.Type] = c
	}
	id := ""
	if e.ID != nil {
		id = *e.ID
	}
	if string(e.Data) == "null" {
		c.put(id, nil, seq)
		return
	}
	c.put(id, e.Data, seq)
}

// put keeps an object; nil is none.
func (c *collection) put(id string, object json.RawMessage, seq int64) {
	c.seqs[id] = seq
	_, there := c.objects[id]
	switch {
	case object == nil:
		delete(c.objects, id)
		c.order = slices.DeleteFunc(c.order, func(other string) bool { return other == id })
		return
	case !there:
		c.order = append(c.order, id)
	}
	c.objects[id] = object
}

// One is an object of a type; the only one of its type has the id "".
func (w *World) One(kind, id string) (json.RawMessage, bool) {
	c := w.types[kind]
	if c == nil {
		return nil, false
	}
	raw, ok := c.objects[id]
	return raw, ok
}

// All are the objects of a type.
func (w *World) All(kind string) []json.RawMessage {
	out := []json.RawMessage{}
	if c := w.types[kind]; c != nil {
		for _, id := range c.order {
			out = append(out, c.objects[id])
		}
	}
	return out
}

// Over returns the world of who is told more than others: of what both tell of, it has what was told later.
func (w *World) Over(other *World) *World {
	out := &World{types: maps.Clone(w.types)}
	if out.types == nil {
		out.types = map[string]*collection{}
	}
	for kind, more := range other.types {
		c := newCollection()
		if was := w.types[kind]; was != nil {
			c = &collection{slices.Clone(was.order), maps.Clone(was.objects), was.seqs}
		}
		was := c.seqs
		c.seqs = map[string]int64{}
		for _, id := range slices.Sorted(maps.Keys(more.seqs)) {
			if more.seqs[id] > was[id] {
				c.put(id, more.objects[id], more.seqs[id])
			}
		}
		out.types[kind] = c
	}
	return out
}
