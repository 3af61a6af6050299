package clics

import (
	"context"
	"slices"
	"sync"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/standings"
	"deepoj/sql/rounds"
)

// linesAtOnce is how many lines of a log are read at once.
const linesAtOnce = 10_000

// mostWorlds is how many worlds are kept; the one that nobody has asked about for longest goes first.
const mostWorlds = 16

// worldOf names a world: that of a round as all of a kind of viewers see it.
type worldOf struct {
	round int64
	view  standings.View
	form  clics.Form
}

// worlds keeps what there is at the endpoints of contests, as their logs go on.
type worlds struct {
	log       *rounds.Store
	languages func(ctx context.Context, round int64) ([]clics.Language, error)

	mu    sync.Mutex
	kept  map[worldOf]*world
	clock int64 // counts looks
}

// world is what one kind of viewers sees of a contest.
type world struct {
	used int64

	mu     sync.Mutex
	seq    int64 // the last line that was read
	teller *clics.Teller
	is     clics.World
}

func newWorlds(log *rounds.Store, languages func(context.Context, int64) ([]clics.Language, error)) *worlds {
	return &worlds{log: log, languages: languages, kept: map[worldOf]*world{}}
}

// of returns a world that is kept, which may know nothing yet.
func (k *worlds) of(name worldOf) *world {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.kept[name]
	if w == nil {
		for len(k.kept) >= mostWorlds {
			var oldest worldOf
			for other, v := range k.kept {
				if oldest.round == 0 || v.used < k.kept[oldest].used {
					oldest = other
				}
			}
			delete(k.kept, oldest)
		}
		w = &world{}
		k.kept[name] = w
	}
	k.clock++
	w.used = k.clock
	return w
}

// Look calls fn with what there is for who asks, as of now. It is good until fn returns. The teller is at the end of the log.
func (k *worlds) Look(ctx context.Context, a asker, fn func(*clics.World, *clics.Teller) error) error {
	w := k.of(worldOf{a.round.ID, a.view, a.form})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.teller == nil {
		languages, err := k.languages(ctx, a.round.ID)
		if err != nil {
			return err
		}
		w.teller = clics.NewTeller(a.form, languages, a.sources())
	}
	if err := w.read(ctx, k.log, a); err != nil {
		w.teller, w.seq, w.is = nil, 0, clics.World{} // it may be half read
		return err
	}
	if a.reader.Participant == 0 {
		return fn(&w.is, w.teller)
	}
	alone, err := k.log.Alone(ctx, a.round.ID, a.reader.Participant)
	if err != nil {
		return err
	}
	var own clics.World
	for _, l := range alone {
		events, _, err := w.teller.Tell(lineOf(l))
		if err != nil {
			return err
		}
		for _, e := range events {
			own.Apply(e, l.Seq)
		}
	}
	return fn(w.is.Over(&own), w.teller)
}

// read takes in what the log got since.
func (w *world) read(ctx context.Context, log *rounds.Store, a asker) error {
	of := rounds.Reader{Audience: a.reader.Audience}
	for {
		lines, err := log.Read(ctx, a.round.ID, of, w.seq, linesAtOnce)
		if err != nil {
			return err
		}
		for _, l := range lines {
			w.seq = l.Seq
			if err := tellWhole(ctx, log, w.teller, a.round.ID, of, l, w.is.Apply); err != nil {
				return err
			}
		}
		if len(lines) < linesAtOnce {
			return nil
		}
	}
}

// tellWhole calls fn with the events of a line, and with those of all before it, where they are to be told again, each with the
// number of the line that says it.
func tellWhole(ctx context.Context, log *rounds.Store, t *clics.Teller, round int64, of rounds.Reader, l rounds.Logged, fn func(clics.Event, int64)) error {
	events, again, err := t.Tell(lineOf(l))
	if err != nil {
		return err
	}
	for _, e := range events {
		fn(e, l.Seq)
	}
	if again {
		return retell(ctx, log, t, round, of, l.Seq, fn)
	}
	return nil
}

// retell tells the last line before a number of everything but the round, in the order of those lines.
func retell(ctx context.Context, log *rounds.Store, t *clics.Teller, round int64, of rounds.Reader, before int64, fn func(clics.Event, int64)) error {
	type key struct{ kind, object string }
	last := map[key]rounds.Logged{}
	for seq := int64(0); ; {
		lines, err := log.Read(ctx, round, of, seq, linesAtOnce)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if seq = l.Seq; l.Seq < before && contest.Kind(l.Kind) != contest.KindRound {
				last[key{l.Kind, l.Object.Object}] = l
			}
		}
		if len(lines) < linesAtOnce || seq >= before {
			break
		}
	}
	all := make([]rounds.Logged, 0, len(last))
	for _, l := range last {
		if !l.Gone {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b rounds.Logged) int { return int(a.Seq - b.Seq) })
	for _, l := range all {
		events, _, err := t.Tell(lineOf(l))
		if err != nil {
			return err
		}
		for _, e := range events {
			fn(e, l.Seq)
		}
	}
	return nil
}

// knowing has a teller that begins behind a line know what lines up to it say of the round and of participants.
func knowing(ctx context.Context, log *rounds.Store, t *clics.Teller, round int64, of rounds.Reader, until int64) error {
	if until == 0 {
		return nil
	}
	named, err := log.Named(ctx, round, of, until)
	if err != nil {
		return err
	}
	for _, l := range named {
		if err := t.Known(lineOf(l)); err != nil {
			return err
		}
	}
	return nil
}

// lineOf is a line as a teller reads it.
func lineOf(l rounds.Logged) clics.Line {
	out := clics.Line{Kind: contest.Kind(l.Kind), Object: l.Object.Object}
	if !l.Gone {
		out.Data = l.Data
	}
	return out
}
