package web

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// How long a connection may stand still.
const (
	writePatience = 30 * time.Second // a client that reads nothing for so long is dropped
	lingerTime    = time.Second      // a refused body is read for so long, so that the refusal arrives
	lingerBytes   = 64 << 20
)

// patient is a listener whose connections drop a client that stops reading, each write having its own deadline: a
// deadline for a whole answer would also end live streams that are well.
type patient struct{ net.Listener }

func (l patient) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &patientConn{Conn: c, patience: writePatience}, nil
}

// patientConn sets a deadline for its writes, and can close in a way that lets the last answer arrive.
type patientConn struct {
	net.Conn
	patience time.Duration // of each write, within an eighth
	lingers  atomic.Bool
	due      atomic.Int64 // when the deadline has to be set anew, in nanoseconds since begun: not for each of many writes
}

// begun is a moment that times are counted from, whatever becomes of the clock.
var begun = time.Now()

func (c *patientConn) Write(b []byte) (int, error) {
	if at := time.Since(begun); int64(at) >= c.due.Load() {
		if err := c.SetWriteDeadline(time.Now().Add(c.patience)); err != nil {
			return 0, err
		}
		c.due.Store(int64(at + c.patience/8))
	}
	return c.Conn.Write(b)
}

// Linger makes Close read for a moment what the client still sends. Closing a socket with unread bytes resets it, and
// the reset may overtake the answer: so a client that posts too much sees why it was refused.
func (c *patientConn) Linger() { c.lingers.Store(true) }

func (c *patientConn) Close() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.lingers.Load() && tcp.CloseWrite() == nil {
		if tcp.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, tcp, lingerBytes) // whatever ends it, the connection ends
		}
	}
	return c.Conn.Close()
}
