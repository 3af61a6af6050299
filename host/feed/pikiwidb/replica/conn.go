package replica

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"deepoj/host/feed/pikiwidb/wire"
)

const (
	dialTimeout = 5 * time.Second
	readBuffer  = 256 << 10
	keepBuffer  = 8 << 20 // a larger one is not kept for the next frame
)

var errClosed = errors.New("the session is closed")

// answer is a message of the master with the memory that it lies in.
type answer struct {
	wire.Answer

	buf []byte
}

// sign reports whether the master only says that it is alive.
func (a *answer) sign() bool {
	if a.Kind != wire.BinlogSync || a.Code != wire.OK {
		return false
	}
	for _, i := range a.Items {
		if len(i.Binlog) > 0 {
			return false
		}
	}
	return true
}

// conn is a connection to the replication port of a master.
type conn struct {
	tcp     net.Conn
	node    wire.Node // who the replica is
	idle    time.Duration
	broken  context.Context // ends when nothing can come any more, with the reason
	fail    context.CancelCauseFunc
	answers chan *answer // but for signs of life
	spare   chan *answer
	reader  sync.WaitGroup

	mu  sync.Mutex // of what is written
	out []byte
}

// dialMaster connects to a port of the master that lies span above its own.
func (s *Source) dialMaster(ctx context.Context, span int) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	tcp, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(s.host, strconv.Itoa(s.port+span)))
	if err != nil {
		return nil, fmt.Errorf("master_host=%s, master_port=%d: nobody answers at the port %d, which is that plus %d: %w",
			s.host, s.port, s.port+span, span, err)
	}
	return tcp, nil
}

func (s *Source) connect(ctx context.Context) (*conn, error) {
	tcp, err := s.dialMaster(ctx, wire.ReplicationSpan)
	if err != nil {
		return nil, err
	}
	c := &conn{tcp: tcp, idle: s.idle, answers: make(chan *answer), spare: make(chan *answer, 2)}
	if own, ok := tcp.LocalAddr().(*net.TCPAddr); ok {
		c.node = wire.Node{IP: own.IP.String(), Port: int32(own.Port)}
	}
	c.broken, c.fail = context.WithCancelCause(context.Background())
	c.reader.Go(c.read)
	return c, nil
}

// read reads what the master sends until the connection ends.
func (c *conn) read() {
	in := bufio.NewReaderSize(patient{c.tcp, c.idle}, readBuffer)
	for {
		a := &answer{}
		select {
		case a = <-c.spare:
		default:
		}
		buf, err := wire.ReadFrame(in, a.buf, wire.MaxFrame)
		if err == nil {
			a.buf = buf
			err = a.Parse(buf)
		}
		if err != nil {
			c.fail(told(err))
			return
		}
		if a.sign() {
			c.giveBack(a)
			continue
		}
		select {
		case c.answers <- a:
		case <-c.broken.Done():
			return
		}
	}
}

// told says of an error of reading what it means.
func told(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the master has closed the connection")
	}
	return fmt.Errorf("read what the master says: %w", err)
}

func (c *conn) giveBack(a *answer) {
	if cap(a.buf) > keepBuffer {
		return
	}
	select {
	case c.spare <- a:
	default:
	}
}

// send writes a message.
func (c *conn) send(r *wire.Request) error {
	r.Node = c.node
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = wire.AppendFrame(c.out[:0], r.Append)
	return c.flush()
}

// acknowledge writes acknowledgements.
func (c *conn) acknowledge(db string, all []wire.Ack) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = c.out[:0]
	for _, a := range all {
		r := wire.Request{Kind: wire.BinlogSync, Node: c.node, DB: db, Ack: a}
		c.out = wire.AppendFrame(c.out, r.Append)
	}
	return c.flush()
}

// flush writes c.out; c.mu is held.
func (c *conn) flush() error {
	err := c.tcp.SetWriteDeadline(time.Now().Add(c.idle))
	if err == nil {
		_, err = c.tcp.Write(c.out)
	}
	if err != nil {
		err = fmt.Errorf("write to the master: %w", err)
		c.fail(err)
	}
	return err
}

// ask sends a message and waits for the answer, which has to be of the same kind.
func (c *conn) ask(ctx context.Context, r *wire.Request) (*answer, error) {
	if err := c.send(r); err != nil {
		return nil, err
	}
	late := time.NewTimer(c.idle)
	defer late.Stop()
	select {
	case a := <-c.answers:
		if a.Kind != r.Kind {
			return nil, fmt.Errorf("the master answers %s with %s", r.Kind, a.Kind)
		}
		return a, nil
	case <-c.broken.Done():
		return nil, fmt.Errorf("%s: %w", r.Kind, context.Cause(c.broken))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-late.C:
		return nil, fmt.Errorf("the master has not answered %s within pb_idle_timeout=%s", r.Kind, c.idle)
	}
}

func (c *conn) close() {
	c.fail(errClosed)
	_ = c.tcp.Close()
	c.reader.Wait()
}

// patient bounds how long each read waits.
type patient struct {
	tcp  net.Conn
	most time.Duration
}

func (p patient) Read(b []byte) (int, error) {
	if err := p.tcp.SetReadDeadline(time.Now().Add(p.most)); err != nil {
		return 0, err
	}
	n, err := p.tcp.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the master has said nothing for pb_idle_timeout=%s", p.most)
	}
	return n, err
}
