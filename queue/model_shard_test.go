package queue_test

import (
	"strings"
	"testing"
)

// shard is the lease of the job's shard, and two dispatchers that want it. The
// database knows the lease; a dispatcher knows what it was told last.
type shard struct {
	owner    uint8 // dispatcher, 1 or 2, or one that is gone
	alive    bool  // the lease
	pickedBy uint8 // who picked the row that is delivered
	lives    [2]dispatcher
	broken   string // the promise that was broken
}

// gone is a dispatcher that has died: it comes back under another name.
const gone = 3

type dispatcher struct {
	believes bool // that it has the shard
	picked   bool // the job, and has not yet added it
}

// shardDesign says whether there are two dispatchers with a shard, and what is
// wrong with them.
type shardDesign struct {
	two        bool
	believes   bool // picks by what it was told, not by the lease
	noTakeover bool // nobody takes a shard whose lease has run out
	lateMarks  bool // a failed publish is noted whoever has picked the row
}

// dispatch replaces the model's one dispatcher.
func (d shardDesign) dispatch(s state, can, breaks perhaps) {
	for i, p := range s.shard.lives {
		me := uint8(i + 1)
		free := s.shard.owner == 0 || s.shard.owner == me || !s.shard.alive && !d.noTakeover
		held := s.shard.owner == me && s.shard.alive && p.believes
		if free && !held {
			can("shard leased", func(t *state) {
				t.shard.owner, t.shard.alive = me, true
				t.shard.lives[i].believes = true
			})
		}
		mayPick := s.shard.owner == me && s.shard.alive
		if d.believes {
			mayPick = p.believes
		}
		if mayPick && s.row == rowReady && !p.picked {
			can("pick", func(t *state) {
				t.row, t.shard.pickedBy, t.shard.lives[i].picked = rowDelivered, me, true
				if s.shard.owner != me {
					t.shard.broken = "a dispatcher picks from the shard of another"
				}
			})
		}
		if p.picked {
			if at := strings.IndexByte(string(s.entries[:]), entryNone); at >= 0 {
				can("add to the stream", func(t *state) { t.entries[at], t.shard.lives[i].picked = entryNew, false })
			}
			breaks("the stream does not take it", func(t *state) {
				t.shard.lives[i].picked = false
				if s.row == rowDelivered && (s.shard.pickedBy == me || d.lateMarks) {
					t.row, t.shard.pickedBy = rowReady, 0
					if s.shard.pickedBy != me {
						t.shard.broken = "a late dispatcher puts back what another has picked"
					}
				}
			})
		}
		if p != (dispatcher{}) {
			breaks("dispatcher dies", func(t *state) {
				t.shard.lives[i] = dispatcher{}
				if s.shard.owner == me {
					t.shard.owner = gone
				}
			})
		}
	}
	if s.shard.owner > 0 && s.shard.alive {
		expire := func(t *state) { t.shard.alive = false }
		if s.shard.owner != gone && s.shard.lives[s.shard.owner-1].believes {
			breaks("a dispatcher is paused until its lease runs out", expire)
		} else {
			can("the lease of a lost dispatcher runs out", expire)
		}
	}
}

func TestAShardIsSafeAndNeverStuck(t *testing.T) {
	t.Parallel()
	states, unsafeAt, stuckAt := design{shards: shardDesign{two: true}, faults: 1, small: true}.explore(false)
	if unsafeAt != "" || stuckAt != "" {
		t.Error(unsafeAt, stuckAt)
	}
	t.Logf("%d states", states)
}

func TestTheModelNoticesWhatIsWrongWithAShard(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		d      shardDesign
		faults uint8
		stuck  bool
	}{
		"picks without a lease":                  {shardDesign{two: true, believes: true}, 1, false},
		"nobody takes over":                      {shardDesign{two: true, noTakeover: true}, 1, true},
		"a late failure is noted for all to see": {shardDesign{two: true, lateMarks: true}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, unsafeAt, stuckAt := design{shards: tt.d, faults: tt.faults, small: true}.explore(!tt.stuck)
			if tt.stuck && stuckAt == "" || !tt.stuck && unsafeAt == "" {
				t.Errorf("unsafe: %q, stuck: %q", unsafeAt, stuckAt)
			}
			t.Log(unsafeAt, stuckAt)
		})
	}
}
