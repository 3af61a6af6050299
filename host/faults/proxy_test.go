package faults

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy is a TCP port in front of a server's socket. It can cut what runs over
// it, let it hang, and lose answers.
type proxy struct {
	addr   string
	target string
	listen net.Listener

	mu    sync.Mutex
	pairs map[*pair]bool
	held  chan struct{} // closed when nothing hangs

	drops atomic.Int64 // answers that are still to be lost
}

// pair is one connection: of a client, and to the server.
type pair struct{ client, server net.Conn }

func (p *pair) close() {
	_ = p.client.Close()
	_ = p.server.Close()
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := make(chan struct{})
	close(free)
	p := &proxy{addr: l.Addr().String(), target: target, listen: l, pairs: map[*pair]bool{}, held: free}
	go p.accept()
	t.Cleanup(func() {
		_ = l.Close()
		p.resume()
		p.cut()
	})
	return p
}

func (p *proxy) accept() {
	for {
		c, err := p.listen.Accept()
		if err != nil {
			return
		}
		go p.serve(c)
	}
}

func (p *proxy) serve(c net.Conn) {
	s, err := net.Dial("unix", p.target)
	if err != nil {
		_ = c.Close()
		return
	}
	one := &pair{c, s}
	p.mu.Lock()
	p.pairs[one] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.carry(one, c, s, false) })
	both.Go(func() { p.carry(one, s, c, true) })
	both.Wait()
	p.mu.Lock()
	delete(p.pairs, one)
	p.mu.Unlock()
}

// carry copies until one side ends.
func (p *proxy) carry(one *pair, from io.Reader, to io.Writer, answers bool) {
	defer one.close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.mu.Lock()
			held := p.held
			p.mu.Unlock()
			<-held
			if answers && readyForQuery(buf[:n]) && p.lose() {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readyForQuery reports whether an answer of PostgreSQL is complete: it ends in
// the message ReadyForQuery (protocol 3.0), so a commit has happened before.
func readyForQuery(b []byte) bool {
	n := len(b)
	return n >= 6 && string(b[n-6:n-1]) == "Z\x00\x00\x00\x05"
}

// lose takes one from the answers that are to be lost.
func (p *proxy) lose() bool {
	for {
		n := p.drops.Load()
		if n <= 0 {
			return false
		}
		if p.drops.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// cut ends every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range p.pairs {
		one.close()
	}
}

// hold lets every connection hang: it stays open, and nothing arrives.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.held:
		p.held = make(chan struct{})
	default: // it hangs already
	}
}

// resume delivers what hung.
func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.held:
	default:
		close(p.held)
	}
}
