package faults

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"
)

// fault is one way to break things.
type fault struct {
	name   string
	weight int
	do     func(ctx context.Context, w *world)
}

// faults are all but those that workers bring upon themselves.
var faults = []fault{
	{"FLUSHALL", 4, func(_ context.Context, w *world) { w.redisDo("FLUSHALL") }},
	{"XTRIM to one entry", 3, func(_ context.Context, w *world) { w.redisDo("XTRIM deepoj:jobs MAXLEN 1") }},
	{"group destroyed", 2, func(_ context.Context, w *world) { w.redisDo("XGROUP DESTROY deepoj:jobs deepoj:workers") }},
	{"Redis killed, comes back empty", 1, func(_ context.Context, w *world) { _ = syscall.Kill(w.redis.PID(), syscall.SIGKILL) }},
	{"forged entries", 3, func(_ context.Context, w *world) { w.forgeEntries() }},
	{"duplicate entries", 3, func(_ context.Context, w *world) { w.duplicate() }},
	{"PostgreSQL stopped at once", 1, func(_ context.Context, w *world) { _ = syscall.Kill(w.pg.PID(), syscall.SIGQUIT) }},
	{blobsAway, 2, func(ctx context.Context, w *world) { w.takeBlobs(ctx) }},
	{"backends terminated", 3, func(_ context.Context, w *world) { w.signalBackends(3) }},
	{"connections to PostgreSQL cut", 2, func(_ context.Context, w *world) { w.pgPort.cut() }},
	{"connections to Redis cut", 2, func(_ context.Context, w *world) { w.redisPort.cut() }},
	{"PostgreSQL half open", 1, func(ctx context.Context, w *world) { w.hang(ctx, w.pgPort) }},
	{"Redis half open", 2, func(ctx context.Context, w *world) { w.hang(ctx, w.redisPort) }},
	{"answers to commits lost", 4, func(_ context.Context, w *world) { w.pgPort.drops.Add(int64(1 + w.intN(5))) }},
	{"api killed", 2, func(_ context.Context, w *world) { w.signal("api", syscall.SIGKILL) }},
	{"scheduler killed", 3, func(_ context.Context, w *world) { w.signal("scheduler", syscall.SIGKILL) }},
	{"scheduler stopped", 1, func(_ context.Context, w *world) { w.signal("scheduler", syscall.SIGSTOP) }},
	{"api stopped", 1, func(_ context.Context, w *world) { w.signal("api", syscall.SIGSTOP) }},
	{"worker killed", 4, func(_ context.Context, w *world) { w.signal("worker", syscall.SIGKILL) }},
	{"worker stopped", 2, func(_ context.Context, w *world) { w.signal("worker", syscall.SIGSTOP) }},
	{"worker told to end", 2, func(_ context.Context, w *world) { w.signal("worker", syscall.SIGTERM) }},
	{"jobs cancelled", 2, func(ctx context.Context, w *world) { w.storm(ctx, "cancel", 5) }},
	{"jobs rejudged", 2, func(ctx context.Context, w *world) { w.storm(ctx, "rejudge", 10) }},
	{"rejudge set started", 2, func(ctx context.Context, w *world) { w.startSet(ctx) }},
	{"rejudge sets resolved", 1, func(ctx context.Context, w *world) { w.resolve(ctx, "apply", "apply", "cancel", "") }},
}

// breakThings until ctx ends, in an order that the seed decides: everything once,
// so that the shortest run has it all, then what is drawn.
func (w *world) breakThings(ctx context.Context, every time.Duration) {
	var bag []fault
	for _, f := range faults {
		for range f.weight {
			bag = append(bag, f)
		}
	}
	once := slices.Clone(faults)
	w.shuffle(len(once), func(i, j int) { once[i], once[j] = once[j], once[i] })
	for {
		if !pause(ctx, every/2+time.Duration(w.intN(int(every)))) {
			return
		}
		f := bag[w.intN(len(bag))]
		if len(once) > 0 {
			f, once = once[0], once[1:]
		}
		w.say("%s", f.name)
		w.count(f.name)
		f.do(ctx, w)
	}
}

// signal sends to a random member of a kind.
func (w *world) signal(kind string, s syscall.Signal) {
	ms := w.of(kind)
	ms[w.intN(len(ms))].signal(s)
}

// hang has a server's connections hang for a while, and sometimes end then.
func (w *world) hang(ctx context.Context, p *proxy) {
	p.hold()
	pause(ctx, time.Duration(w.intN(int(2*lease))))
	if w.intN(2) == 0 {
		p.cut()
	}
	p.resume()
}

// forgeEntries adds what no dispatcher has sent.
func (w *world) forgeEntries() {
	hour := time.Now().Add(time.Duration(w.intN(3)-1) * time.Hour).UnixMilli()
	for _, fields := range []string{
		fmt.Sprintf("job_id %d enqueue_ts %d payload_ref pg:1 priority 0", 1+w.intN(1000), hour),
		fmt.Sprintf("job_id %d", 1+w.intN(1000)),
		fmt.Sprintf("job_id -5 enqueue_ts %d payload_ref pg:-5 priority 0", hour),
		fmt.Sprintf("job_id 999999999 enqueue_ts %d payload_ref pg:999999999 priority 0", hour),
		fmt.Sprintf("job_id %d enqueue_ts tomorrow payload_ref nowhere priority high", 1+w.intN(1000)),
		"nonsense 1",
	} {
		w.redisDo("XADD deepoj:jobs * " + fields)
	}
}

// duplicate adds entries of jobs that have theirs already, or have ended.
func (w *world) duplicate() {
	for range 10 {
		id := w.someJob()
		w.redisDo(fmt.Sprintf("XADD deepoj:jobs * job_id %d enqueue_ts %d payload_ref pg:%d priority 0", id, time.Now().UnixMilli(), id))
	}
}

// redisDo sends a command to Redis, past the proxy. A Redis that is away just
// now is broken already.
func (w *world) redisDo(command string) {
	conn, err := net.DialTimeout("unix", w.redis.Socket, time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil { // inline form of the protocol
		return
	}
	answer := make([]byte, 256)
	n, _ := conn.Read(answer)
	if strings.HasPrefix(string(answer[:n]), "-ERR wrong") || strings.HasPrefix(string(answer[:n]), "-ERR unknown") {
		w.wrong("redis: %s: %s", command, answer[:n]) // a mistake of this test
	}
}
