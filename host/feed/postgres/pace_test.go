package postgres

import (
	"bytes"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"
)

func TestAFastStreamIsReadInFewPieces(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const messages = 100_000
	message := bytes.Repeat([]byte("0123456789abcdef"), 16)
	sent := make(chan error, 1)
	go func() {
		c, err := net.Dial("unix", l.Addr().String())
		for n := 0; err == nil && n < messages; n++ {
			_, err = c.Write(message)
		}
		if err == nil {
			err = c.Close()
		}
		sent <- err
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, buf, reads, came := &paced{r: c}, make([]byte, readBuffer), 0, 0
	for {
		n, err := p.Read(buf)
		for i, b := range buf[:n] {
			if want := message[(came+i)%len(message)]; b != want {
				t.Fatalf("byte %d is %q, want %q", came+i, b, want)
			}
		}
		came += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		reads++
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if came != messages*len(message) {
		t.Errorf("%d bytes came of %d", came, messages*len(message))
	}
	if reads > messages/20 {
		t.Errorf("%d messages took %d reads", messages, reads)
	}
}

func TestASlowStreamIsReadAtOnce(t *testing.T) {
	for rate, want := range map[float64]time.Duration{
		0: 0, busyRate - 1: 0, busyRate: longest, 2 * busyRate: 3417 * time.Microsecond, 14 << 20: 976 * time.Microsecond, 1 << 30: 13 * time.Microsecond,
	} {
		if got := pauseAt(rate).Truncate(time.Microsecond); got != want {
			t.Errorf("at %.0f bytes per second reading pauses for %s, want %s", rate, got, want)
		}
	}
}
