package feedtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Rules say what a sink may have.
type Rules struct {
	Keys uint64 // as in Source; 7 if 0
	From uint64 // where the stream begins, if no snapshot comes first
	To   uint64 // the last change; 0 = any
	Once bool   // nothing comes twice

	Without []uint64 // changes that do not come, such as dead letters
}

// comes reports whether change n comes.
func (r *Rules) comes(n uint64) bool { return Kept(n) && !slices.Contains(r.Without, n) }

// Check holds what a sink has, in its order, against the truth: changes without a hole, behind whole snapshots, and what
// comes twice only where it may.
func Check(values [][]byte, r Rules) error {
	c := checker{rules: r, at: r.From, begun: r.From > 0}
	c.keys = (&Source{Keys: r.Keys}).keys()
	for i, v := range values {
		var e Event
		if err := json.Unmarshal(v, &e); err != nil {
			return fmt.Errorf("record %d is no event: %w: %.200s", i, err, v)
		}
		if wrong := c.next(e); wrong != "" {
			return fmt.Errorf("record %d, %.100s: %s", i, v, wrong)
		}
	}
	last := r.To
	for last > 0 && !r.comes(last) {
		last--
	}
	if r.To > 0 && c.at < last {
		return fmt.Errorf("the sink has changes up to %d, want %d", c.at, last)
	}
	if r.To > 0 && c.snapshot != 0 {
		return fmt.Errorf("the snapshot of epoch %d has no end", c.snapshot)
	}
	return nil
}

type checker struct {
	rules    Rules
	keys     uint64
	at       uint64 // the last change that the consumer has, as such or in a snapshot
	begun    bool   // at means something
	epoch    uint32 // the highest
	snapshot uint32 // epoch of the snapshot that is under way; 0 = none is
	of       uint64 // what it is of
	got      []uint64
	ended    uint32 // epoch of the snapshot that ended last
	sinceEnd bool   // a change came since
}

func (c *checker) next(e Event) string {
	switch e.Type {
	case "snapshot_begin":
		if e.Epoch == c.snapshot && !c.rules.Once {
			return "" // again
		}
		if e.Epoch <= c.epoch {
			return fmt.Sprintf("a snapshot begins, and its epoch is not above %d", c.epoch)
		}
		c.epoch, c.snapshot, c.of, c.got = e.Epoch, e.Epoch, 0, nil
	case "snapshot":
		return c.inSnapshot(e)
	case "snapshot_end":
		return c.end(e)
	case "change":
		return c.change(e)
	default:
		return "nobody sends such a thing"
	}
	return ""
}

func (c *checker) inSnapshot(e Event) string {
	if e.Epoch != c.snapshot {
		return fmt.Sprintf("it is of another snapshot than %d, which is under way", c.snapshot)
	}
	if c.of != 0 && c.of != e.At {
		return fmt.Sprintf("it is of %d, and others of the same snapshot are of %d", e.At, c.of)
	}
	if slices.Contains(c.got, e.N) {
		if c.rules.Once {
			return "it comes twice"
		}
		return ""
	}
	c.of = e.At
	c.got = append(c.got, e.N)
	return ""
}

func (c *checker) end(e Event) string {
	if e.Epoch == c.ended && c.snapshot == 0 && !c.sinceEnd && !c.rules.Once {
		return "" // again
	}
	if e.Epoch != c.snapshot {
		return fmt.Sprintf("another snapshot ends than %d, which is under way", c.snapshot)
	}
	want := Content(c.of, c.keys)
	slices.Sort(want)
	slices.Sort(c.got)
	if !slices.Equal(c.got, want) {
		return fmt.Sprintf("the snapshot of %d has %v, want %v", c.of, c.got, want)
	}
	c.at, c.begun, c.snapshot, c.ended, c.sinceEnd = c.of, true, 0, e.Epoch, false
	return ""
}

func (c *checker) change(e Event) string {
	if c.snapshot != 0 {
		return fmt.Sprintf("a change comes while the snapshot of epoch %d is under way", c.snapshot)
	}
	if !c.begun {
		return "a change comes before anything that it changes"
	}
	c.sinceEnd = true
	next := c.at + 1
	for !c.rules.comes(next) {
		next++
	}
	switch {
	case e.N == next:
		c.at = e.N
	case e.N > next:
		return fmt.Sprintf("change %d is missing", next)
	case c.rules.Once:
		return "it comes twice"
	}
	if e.ID != fmt.Sprintf("change:%d", e.N) || e.Fill == "" || e.Fill[0] != 'a'+byte(e.N%26) {
		return "it is not what the source told"
	}
	c.epoch = max(c.epoch, e.Epoch)
	return ""
}

// Summary says in short what a sink has.
func Summary(values [][]byte) string {
	var out strings.Builder
	var from, to Event
	flush := func() {
		if from.Type != "" {
			fmt.Fprintf(&out, " %s %d-%d (epoch %d)", from.Type, from.N, to.N, from.Epoch)
		}
		from = Event{}
	}
	for _, v := range values {
		var e Event
		_ = json.Unmarshal(v, &e) // what is no event has no type
		if from.Type != e.Type || from.Epoch != e.Epoch || e.Type == "change" && (e.N <= to.N || e.N > to.N+2) {
			flush()
			from = e
		}
		to = e
	}
	flush()
	return out.String()
}
