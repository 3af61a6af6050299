package rounds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"deepoj/host/contest"
	"deepoj/host/standings"
)

const (
	boardWindow = 50 * time.Millisecond // changes within it are sent together
	keptChanges = 256                   // from which a viewer goes on who was away
)

// boardChangeJSON is what changes on a board. With reset everything may have: the board has to be read again.
type boardChangeJSON struct {
	Token    string             `json:"token"` // of the board as it is then
	Reset    bool               `json:"reset,omitempty"`
	State    stateJSON          `json:"state"`
	Problems []boardProblemJSON `json:"problems"` // columns that say something else
	Rows     []placedRowJSON    `json:"rows"`     // rows that say something else
	Shifts   []boardShiftJSON   `json:"shifts"`   // other ranks of rows that say nothing else, which keep their order among each other
}

// placedRowJSON is a row of the board, and how many rows are above it.
type placedRowJSON struct {
	Place int `json:"place"`
	boardRowJSON
}

// boardShiftJSON says by how much the ranks are others of the rows from a place to another, as they are now, but for those that say
// something else.
type boardShiftJSON struct {
	From int `json:"from"`
	To   int `json:"to"`
	By   int `json:"by"`
}

// change is a change that is written already.
type change struct {
	from  string // token of the board before
	event []byte
}

// changed is a change from one board to another, as the event that tells of it.
func changed(from, to string, data []byte) change {
	return change{from, fmt.Appendf(nil, "id: %s\nevent: board\ndata: %s\n\n", to, data)}
}

// channel knows what changed lately on the board of a round for one kind of viewers. Each change is computed and written once,
// however many look on.
type channel struct {
	kept  *standings.Keeper
	round int64
	view  standings.View

	guests atomic.Pointer[time.Time] // when a guest was last found to be one who may look

	mu     sync.Mutex
	looked time.Time
	board  *boardJSON // as it was last; nil = nobody has looked
	known  knownRows  // of it
	past   []change
}

// changes returns the changes behind a token, and the token behind them, of a board that is at least as new as since. It is false
// where these are not known: then the board has to be read again.
func (ch *channel) changes(ctx context.Context, token string, since time.Time) (list []change, now string, known bool, err error) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if wait := ch.rest(since); wait > 0 {
		ch.mu.Unlock()
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
		pause.Stop()
		ch.mu.Lock()
	}
	if ch.board == nil || ch.looked.Before(since) {
		if err := ch.look(ctx); err != nil {
			return nil, "", false, err
		}
	}
	list, now, known = ch.behind(token)
	return list, now, known, nil
}

// have is changes where the board is as new as that already; fresh is false where it is not.
func (ch *channel) have(token string, since time.Time) (list []change, now string, known, fresh bool) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.board == nil || ch.looked.Before(since) {
		return nil, "", false, false
	}
	list, now, known = ch.behind(token)
	return list, now, known, true
}

// behind are the changes behind a token: see changes. What is kept of them is never written to again.
func (ch *channel) behind(token string) (list []change, now string, known bool) {
	now = ch.board.Token
	if token == now {
		return nil, now, true
	}
	for at, v := range slices.Backward(ch.past) { // mostly the last
		if v.from == token {
			return ch.past[at:len(ch.past):len(ch.past)], now, true
		}
	}
	return nil, now, false
}

// rest is how long it is until the board is looked at again, should it have to be as new as since; 0 = it does not, or now. Whoever
// waits for it then sees what the first of them has found.
func (ch *channel) rest(since time.Time) time.Duration {
	if ch.board == nil || !ch.looked.Before(since) {
		return 0
	}
	return max(boardWindow-time.Since(ch.looked), 0)
}

// knownRows are rows as they were shown.
type knownRows struct {
	lines int64 // of the log that there were
	rows  map[int64]boardRowJSON
}

// has reports whether a row is known to be what it was, but for its rank.
func (k *knownRows) has(v *standings.Standings, participant int64) bool {
	_, known := k.rows[participant]
	return known && v.Same(participant, k.lines)
}

// row returns a row with its rank, as it is known, or as it is from now on.
func (k *knownRows) row(v *standings.Standings, r contest.Row) boardRowJSON {
	row, known := k.rows[r.Participant]
	switch {
	case !known || !v.Same(r.Participant, k.lines):
		row = shownRow(v, r)
		k.rows[r.Participant] = row
	case row.Place() != r.Rank:
		row.Rank = rankOf(r)
	}
	return row
}

// look compares the board with how it was.
func (ch *channel) look(ctx context.Context) error {
	ch.looked = time.Now()
	var is *boardJSON
	err := ch.kept.Look(ctx, ch.round, ch.view, func(v *standings.Standings) {
		if ch.board != nil && v.Token == ch.board.Token {
			return
		}
		if b, err := board(v, part{known: &ch.known}); err == nil {
			is = &b
		}
	})
	if err != nil || is == nil {
		return err
	}
	if ch.board != nil {
		raw, err := json.Marshal(difference(ch.board, is))
		if err != nil {
			return err
		}
		ch.past = append(ch.past, changed(ch.board.Token, is.Token, raw))
		if len(ch.past) > keptChanges {
			ch.past = slices.Clone(ch.past[len(ch.past)-keptChanges:])
		}
	}
	ch.board = is
	return nil
}

// placesBefore are the places at which rows were, by who is in them, of all that are not where they were. There are as many as before.
func placesBefore(was, is []boardRowJSON) map[string]int {
	from, to := 0, len(was)
	for from < to && was[from].Participant == is[from].Participant {
		from++
	}
	for to > from && was[to-1].Participant == is[to-1].Participant {
		to--
	}
	places := make(map[string]int, to-from)
	for i, r := range was[from:to] {
		places[r.Participant] = from + i
	}
	return places
}

// difference is what is not as it was.
func difference(was, is *boardJSON) boardChangeJSON {
	c := boardChangeJSON{Token: is.Token, State: is.State, Problems: []boardProblemJSON{}, Rows: []placedRowJSON{}, Shifts: []boardShiftJSON{}}
	if len(was.Problems) != len(is.Problems) || len(was.Rows) != len(is.Rows) {
		c.Reset = true
		return c
	}
	for i, p := range is.Problems {
		before := was.Problems[i]
		if before.Slug != p.Slug || before.Label != p.Label || before.Name != p.Name {
			c.Reset = true
			return c
		}
		if before.Solved != p.Solved || before.Decided != p.Decided || !slices.Equal(before.First, p.First) {
			c.Problems = append(c.Problems, p)
		}
	}
	places := placesBefore(was.Rows, is.Rows)
	last := -1 // where the row was that says nothing else and is above
	for i, r := range is.Rows {
		at, there := i, was.Rows[i].Participant == r.Participant
		if !there {
			at, there = places[r.Participant]
		}
		if !there {
			c.Reset = true
			return c
		}
		before := was.Rows[at]
		if !sameRow(before, r) {
			c.Rows = append(c.Rows, placedRowJSON{i, r})
			continue
		}
		if at < last { // rows that say nothing else have another order
			c.Reset = true
			return c
		}
		last = at
		by := r.Place() - before.Place()
		if n := len(c.Shifts); n > 0 && c.Shifts[n-1].By == by {
			c.Shifts[n-1].To = i
		} else {
			c.Shifts = append(c.Shifts, boardShiftJSON{i, i, by})
		}
	}
	c.Shifts = slices.DeleteFunc(c.Shifts, func(s boardShiftJSON) bool { return s.By == 0 })
	return c
}

// sameRow reports whether two rows say the same but for their rank.
func sameRow(a, b boardRowJSON) bool {
	return (a.Rank == nil) == (b.Rank == nil) && a.Name == b.Name && a.Organization == b.Organization && a.Solved == b.Solved && a.Total == b.Total && a.Points == b.Points && a.TimeMS == b.TimeMS &&
		slices.Equal(a.Groups, b.Groups) && sameCells(a.Cells, b.Cells)
}

// sameCells reports whether cells say the same. Most are those of before, which are not looked at.
func sameCells(a, b []boardCellJSON) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// channels are those of boards that somebody looks at, or looked at lately.
type channels struct {
	mu   sync.Mutex
	kept map[channelOf]*channel
}

type channelOf struct {
	round int64
	view  standings.View
}

// mostChannels is how many channels are kept.
const mostChannels = 64

// of returns the channel of a board.
func (k *channels) of(kept *standings.Keeper, round int64, view standings.View) *channel {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := channelOf{round, view}
	ch := k.kept[name]
	if ch == nil {
		if k.kept == nil || len(k.kept) >= mostChannels {
			k.kept = map[channelOf]*channel{} // who looks on keeps theirs until they come again
		}
		ch = &channel{kept: kept, round: round, view: view, known: knownRows{rows: map[int64]boardRowJSON{}}}
		k.kept[name] = ch
	}
	return ch
}
