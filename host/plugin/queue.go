package plugin

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin/internal/wire"
)

// Calls that wait for a worker are put to it together, if they are for the same module and its calls have been short:
// what a call costs beside the guest is paid once for all, and no call waits long for those before it.

// What a worker is asked at once.
const (
	maxCalls  = 20
	maxOutput = 64 << 20             // bytes that the guests may write, together
	shortTime = 3 * time.Millisecond // that all of them should take
)

// call is a question that waits for a worker.
type call struct {
	ctx      context.Context //nolint:containedctx // a call lives as long as one of ask
	request  wire.Request
	question question
	patience time.Duration
	alone    bool

	done  chan struct{} // closed when there is a reply or an error
	reply wire.Reply
	blob  []byte
	err   error
}

// ask has a worker answer a request, alone or together with others.
//
// It returns a [*diedError] if the worker died, [ErrPatience] if it took longer
// than patience, and ctx's error if ctx ended.
func (p *pool) ask(ctx context.Context, q wire.Request, of question, patience time.Duration, alone bool) (wire.Reply, []byte, error) {
	c := &call{
		ctx: ctx, request: q, question: of, patience: patience, done: make(chan struct{}),
		alone: alone || of.sent != nil || of.blob != nil,
	}
	if err := ctx.Err(); err != nil {
		return wire.Reply{}, nil, err
	}
	p.mu.Lock()
	mine := p.working < p.workers
	if mine {
		p.working++
	} else {
		p.waiting = append(p.waiting, c)
	}
	p.mu.Unlock()
	if mine {
		p.answer([]*call{c})
		p.next()
		return c.reply, c.blob, c.err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if p.withdraw(c) {
			return wire.Reply{}, nil, ctx.Err()
		}
		<-c.done
	}
	return c.reply, c.blob, c.err
}

// withdraw takes back a call that no worker has yet.
func (p *pool) withdraw(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.waiting, c)
	if at < 0 {
		return false
	}
	p.waiting = slices.Delete(p.waiting, at, at+1)
	return true
}

// next goes on with what waits, without whoever calls it.
func (p *pool) next() {
	calls := p.collect()
	if calls == nil {
		return
	}
	go func() {
		for calls != nil {
			p.answer(calls)
			runtime.Gosched() // those who have their answers ask again first: then more go together
			calls = p.collect()
		}
	}()
}

// collect takes the first call that waits, and others that can go with it. When
// there is none, the worker is not at work any more.
func (p *pool) collect() []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.working--
		return nil
	}
	first := p.waiting[0]
	calls := []*call{first}
	files, output := len(first.question.files), first.request.OutputBytes
	limit := 1
	if cost, known := p.costs[first.request.Dir]; known {
		limit = min(maxCalls, int(shortTime/max(cost, time.Microsecond)))
	}
	rest := p.waiting[:0]
	for _, c := range p.waiting[1:] {
		fits := !first.alone && !c.alone && c.request.Dir == first.request.Dir && len(calls) < limit &&
			files+len(c.question.files) <= wire.MaxFiles && output+c.request.OutputBytes <= maxOutput
		if !fits {
			rest = append(rest, c)
			continue
		}
		calls = append(calls, c)
		files += len(c.question.files)
		output += c.request.OutputBytes
	}
	clear(p.waiting[len(rest):])
	p.waiting = rest
	return calls
}

// answer has a worker answer calls, all of them one way or another.
func (p *pool) answer(calls []*call) {
	w, err := p.take(calls[0].request.Dir)
	if err == nil {
		err = w.ask(calls)
		if err != nil {
			p.drop(w)
		} else {
			w.knows[calls[0].request.Dir] = struct{}{}
			p.give(w)
			p.learn(calls)
		}
	}
	died, isDead := errors.AsType[*diedError](err)
	if isDead {
		died.how = w.process.lastWords()
	}
	for i, c := range calls {
		switch {
		case err == nil:
		case c.ctx.Err() != nil:
			c.err = c.ctx.Err()
		case isDead:
			c.err = &diedError{how: died.how, shared: i > 0}
		default:
			c.err = err
		}
		close(c.done)
	}
}

// maxCosts bounds how many modules' costs are remembered.
const maxCosts = 1024

// learn remembers what a call of the module costs: mostly what it did before, so that one long call counts for a while.
func (p *pool) learn(calls []*call) {
	longest := time.Duration(0)
	for _, c := range calls {
		longest = max(longest, time.Duration(c.reply.CPUNanos))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := calls[0].request.Dir
	before, known := p.costs[dir]
	switch {
	case !known && len(p.costs) >= maxCosts:
		clear(p.costs)
		fallthrough
	case !known || longest > before:
		p.costs[dir] = longest
	default:
		p.costs[dir] = (7*before + longest) / 8
	}
}

// ask has the worker answer calls. After an error the worker is of no more use.
func (w *workerProcess) ask(calls []*call) error {
	var b wire.Batch
	var files []*os.File
	var patience time.Duration
	for _, c := range calls {
		b.Calls = append(b.Calls, c.request)
		files = append(files, c.question.files...)
		patience += c.patience
	}
	if err := w.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return &diedError{}
	}
	// The worker is ended when nobody waits for it any more.
	var left atomic.Int64
	left.Store(int64(len(calls)))
	var ending sync.WaitGroup
	defer ending.Wait() // or it would end what the worker is asked next
	for _, c := range calls {
		ending.Add(1)
		stop := context.AfterFunc(c.ctx, func() {
			defer ending.Done()
			if left.Add(-1) == 0 {
				_ = w.conn.SetDeadline(time.Unix(1, 0))
			}
		})
		defer func() {
			if stop() {
				ending.Done()
			}
		}()
	}
	var o wire.Replies
	var header, blob []byte
	err := w.link.Send(b.Append, calls[0].question.blob, files)
	if err == nil {
		if sent := calls[0].question.sent; sent != nil {
			sent()
		}
		var received []int
		header, blob, received, err = w.link.Receive()
		for _, fd := range received {
			_ = unix.Close(fd) // a worker sends none
		}
	}
	if err == nil {
		o, err = wire.ParseReplies(header)
	}
	switch {
	case err == nil && share(o, slices.Clone(blob), calls):
		return nil
	case left.Load() == 0:
		return context.Canceled // each call has its own reason
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrPatience
	case errors.Is(err, net.ErrClosed):
		return errClosed
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, wire.ErrMalformed):
		return &diedError{}
	default:
		return err
	}
}

// share gives each call its reply, unless they do not fit.
func share(o wire.Replies, blob []byte, calls []*call) bool {
	if len(o.All) != len(calls) {
		return false
	}
	for i, c := range calls {
		n := 0
		for _, p := range o.All[i].Parts {
			if p.Bytes < 0 || p.Bytes > len(blob)-n {
				return false
			}
			n += p.Bytes
		}
		c.reply, c.blob, blob = o.All[i], blob[:n:n], blob[n:]
	}
	return len(blob) == 0
}
