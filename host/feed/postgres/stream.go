package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"deepoj/host/feed/event"
	"deepoj/sql/published"
)

// decoder reads pgoutput, version 1 with binary values, and says what is to be kept.
type decoder struct {
	start   uint64 // of the stream: transactions whose commits lie before it are known
	member  func(job int64, generation int32) (bool, error)
	put     func(lsn uint64, parts ...[]byte) error
	tables  map[uint32]int // relation id → number of published.Tables; -1 = not ours
	fields  []field
	batch   batch
	head    []byte
	pending map[judging]bool // taken into a rejudge set by the open transaction

	open   bool
	skip   bool
	commit uint64 // LSN of the open transaction's commit
	index  uint32
	kept   bool   // something of the open transaction is in the log
	end    uint64 // of the last commit that was put, or the start
}

// judging is one time that a job is judged.
type judging struct {
	job        int64
	generation int32
}

// message takes a message of the stream apart. done are the judgings of sets that a commit made known.
func (d *decoder) message(b []byte) (done map[judging]bool, err error) {
	if len(b) == 0 {
		return nil, errShort
	}
	r := reader{b: b[1:]}
	switch b[0] {
	case 'B':
		d.commit = r.u64()
		d.open, d.skip, d.index, d.kept = true, d.commit < d.start, 0, false
		clear(d.pending)
	case 'R':
		err = d.relation(&r)
	case 'I':
		err = d.insert(&r)
	case 'C':
		r.u8()
		commit, end, at := r.u64(), r.u64(), int64(r.u64())
		if r.err != nil {
			return nil, r.err
		}
		return d.committed(commit, end, at)
	}
	return nil, errors.Join(err, r.err)
}

func (d *decoder) committed(commit, end uint64, at int64) (done map[judging]bool, err error) {
	if !d.open || commit != d.commit {
		return nil, fmt.Errorf("the stream has the commit %s of a transaction that ends at %s", lsn(commit), lsn(d.commit))
	}
	d.open = false
	if len(d.pending) > 0 {
		done = d.pending
		d.pending = nil
	}
	if !d.kept {
		return done, nil
	}
	d.head = appendEnd(d.head[:0], tagCommit, d.index, at)
	if err := d.put(end, d.head); err != nil {
		return nil, err
	}
	d.end = end
	return done, nil
}

// relation learns what a table is called from now on, and refuses one that this version does not know.
func (d *decoder) relation(r *reader) error {
	id := r.u32()
	r.text() // schema
	name := r.text()
	r.u8() // replica identity
	var got []published.Column
	for range r.u16() {
		r.u8()
		c := published.Column{Name: r.text()}
		c.Type = r.u32()
		r.u32()
		got = append(got, c)
	}
	if r.err != nil {
		return r.err
	}
	d.tables[id] = -1
	for i, t := range tables {
		if t.Name != name {
			continue
		}
		if want := t.Published(); !slices.Equal(got, want) {
			return final("postgres_publication: table %s is published with the columns %s, and this version of the feed reads %s. "+
				"Let an administrator run what `deepoj feed --sql` prints, or start the version of the feed that belongs to the judge",
				name, columnNames(got), columnNames(want))
		}
		d.tables[id] = i
	}
	return nil
}

func (d *decoder) insert(r *reader) error {
	id := r.u32()
	if kind := r.u8(); kind != 'N' {
		return fmt.Errorf("an inserted row of the stream begins with %q", kind)
	}
	i, known := d.tables[id]
	if !known {
		return fmt.Errorf("the stream has a row of table %d, which it has not told of", id)
	}
	if i < 0 || d.skip {
		return r.err
	}
	if !d.open {
		return errors.New("the stream has a row outside of a transaction")
	}
	d.fields = r.tuple(d.fields)
	if r.err != nil {
		return r.err
	}
	switch name := tables[i].Name; name {
	case published.SingleEvents:
		if err := d.batch.single(d.fields); err != nil {
			return err
		}
	case published.EventBatches:
		if err := d.batch.many(d.fields); err != nil {
			return err
		}
	default:
		return d.taken()
	}
	for n := range d.batch.jobs {
		e, err := d.batch.entry(n)
		if err != nil {
			return err
		}
		if err := d.event(&e); err != nil {
			return err
		}
	}
	return nil
}

// taken learns that a judging belongs to a rejudge set. The row of that comes before all events of the judging.
func (d *decoder) taken() error {
	if len(d.fields) != 2 {
		return fmt.Errorf("a job of a rejudge set has %d columns", len(d.fields))
	}
	job, err1 := int8Of(d.fields[0])
	generation, err2 := int4Of(d.fields[1])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if d.pending == nil {
		d.pending = map[judging]bool{}
	}
	d.pending[judging{job, generation}] = true
	return nil
}

// event puts an event into the log, unless it is of a judging for a rejudge set. Of such a one nobody learns anything
// but that its result was applied, here as elsewhere: see the function event_seen of the database.
func (d *decoder) event(e *entry) error {
	index := d.index
	d.index++
	if e.generation > 1 && string(e.kind) != applied {
		hidden := d.pending[judging{e.job, e.generation}]
		if !hidden {
			var err error
			if hidden, err = d.member(e.job, e.generation); err != nil {
				return err
			}
		}
		if hidden {
			return nil
		}
	}
	d.head = e.appendHead(d.head[:0], index)
	d.kept = true
	return d.put(d.commit, d.head, e.data)
}

// applied is the kind of event that says that the result of a rejudge set is shown.
const applied = "applied"

func columnNames(columns []published.Column) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	return strings.Join(all, ", ")
}

// lsn prints a position as PostgreSQL does.
func lsn(v uint64) string { return string(event.AppendLSN(nil, v)) }
