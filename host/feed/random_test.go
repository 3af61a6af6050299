package feed_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"deepoj/host/feed/feedtest"
)

// steps are those at which a process may die.
var steps = []string{
	"received", "half", "written", "synced", "durable", "rotating", "rotated", "cleaning", "cleaned", "produced", "acknowledged", "snapshot", "snapshot-end",
}

// TestAFeedLosesNothingWhateverFails lets processes, Kafka, the source and the disk fail for FOR, in the order of SEED, and
// then compares what Kafka has with the truth. `make faults-feed` runs it for longer.
func TestAFeedLosesNothingWhateverFails(t *testing.T) {
	t.Parallel()
	length, err := time.ParseDuration(cmp.Or(os.Getenv("FOR"), "3s"))
	if err != nil {
		t.Fatalf("FOR: %v", err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatalf("SEED: %v", err)
	}
	lives, deaths := 0, 0
	until := time.Now().Add(length)
	for round := uint64(0); round == 0 || time.Now().Before(until) && t.Context().Err() == nil; round++ {
		t.Run(fmt.Sprintf("seed %d, round %d", seed, round), func(t *testing.T) {
			n, died := misfortunes(t, rand.New(rand.NewPCG(seed, round)))
			lives, deaths = lives+n, deaths+died
		})
		if t.Failed() {
			break
		}
	}
	t.Logf("seed %d: %d lives, %d deaths", seed, lives, deaths)
}

// misfortunes are the lives of one feed.
func misfortunes(t *testing.T, random *rand.Rand) (lives, deaths int) {
	exactly := random.IntN(2) == 0
	s := newSetup(t, exactly)
	l := life{Dir: s.dir, Brokers: s.kafka.ListenAddrs(), Exactly: exactly, To: 96, Transaction: uint64(random.IntN(2) * 8), System: "one"}
	var story []string
	tell := func(format string, args ...any) { story = append(story, fmt.Sprintf(format, args...)) }
	defer func() {
		if t.Failed() {
			for _, line := range story {
				t.Log(line)
			}
		}
	}()
	once := exactly
	count := 2 + random.IntN(6)
	for i := range count + 1 {
		last := i == count
		l.From, l.To = l.To, l.To+8*uint64(3+random.IntN(30))
		l.Step, l.Nth, l.Cuts, l.Fails, l.Excused = "", 0, nil, nil, false
		l.Slowly = random.IntN(3) == 0
		if !last && random.IntN(5) > 0 {
			l.Step, l.Nth = steps[random.IntN(len(steps))], 1+random.IntN(12)
		}
		for range random.IntN(4) {
			l.Cuts = append(l.Cuts, l.From+1+random.Uint64N(l.To-l.From))
		}
		slices.Sort(l.Cuts)
		l.Cuts = slices.Compact(l.Cuts)
		for range random.IntN(3) {
			l.Fails = append(l.Fails, random.Uint64N(7))
		}
		switch random.IntN(10) {
		case 0:
			l.Oldest, l.Excused = l.From, true
			tell("the source forgets what was before %d", l.From)
		case 1:
			l.System, l.Excused = fmt.Sprint("system ", i), true
			tell("another source takes over")
		case 2:
			if err := os.RemoveAll(filepath.Join(s.dir, "wal")); err != nil {
				t.Fatal(err)
			}
			l.Excused = true
			tell("the log is deleted")
		case 3:
			if exactly { // else epochs begin anew, which nobody can tell from before
				err := errors.Join(os.RemoveAll(filepath.Join(s.dir, "wal")), os.RemoveAll(filepath.Join(s.dir, "checkpoint.json")))
				if err != nil {
					t.Fatal(err)
				}
				l.Excused = true
				tell("log and checkpoint are deleted")
			}
		}
		for range random.IntN(3) {
			e := []*kerr.Error{kerr.NotLeaderForPartition, kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.NotEnoughReplicas}[random.IntN(4)]
			key := []kmsg.Key{kmsg.Produce, kmsg.Produce, kmsg.EndTxn, kmsg.InitProducerID}[random.IntN(4)]
			if key != kmsg.Produce {
				e = kerr.NotCoordinator
			}
			h := s.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: e, Count: 1 + random.IntN(4)})
			defer h.Remove()
			tell("Kafka answers %s to %s a few times", e.Message, key.Name())
		}
		if random.IntN(4) == 0 {
			d := time.Duration(50+random.IntN(500)) * time.Millisecond
			time.AfterFunc(d, s.away())
			tell("Kafka is away for %s", d)
		}
		tell("a life of %+v", l)
		lives++
		if live(t, l) {
			deaths++
			tell("it was killed")
		}
	}
	s.check(l.To, feedtest.Rules{Once: once})
	return lives, deaths
}
