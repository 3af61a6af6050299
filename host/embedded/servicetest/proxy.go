package servicetest

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Proxy is a TCP port before a server, which can be cut off.
type Proxy struct {
	Address string

	target string
	listen net.Listener

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// StartProxy runs a proxy before the server at target, host:port or the path of a socket, until the test ends.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), target: target, listen: l, conns: map[net.Conn]bool{}}
	go p.accept()
	t.Cleanup(func() {
		_ = l.Close()
		p.Cut()
	})
	return p
}

// Cut ends every connection, and new ones at once.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.conns {
		_ = c.Close()
	}
}

// Mend lets new connections through.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

func (p *Proxy) accept() {
	for {
		c, err := p.listen.Accept()
		if err != nil {
			return
		}
		go p.serve(c)
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	if !p.enter(client) {
		return
	}
	defer p.leave(client)
	network := "tcp"
	if strings.HasPrefix(p.target, "/") {
		network = "unix"
	}
	server, err := net.Dial(network, p.target)
	if err != nil || !p.enter(server) {
		return
	}
	defer p.leave(server)
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client) // the end of either is the end of both
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// enter notes a connection, unless the proxy is cut.
func (p *Proxy) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) leave(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}
