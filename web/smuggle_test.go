package web

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

// TestNobodySmugglesARequest sends requests whose end proxies and servers have been
// known to see in different places: what one takes for a body is the next request for
// the other. Each is refused, or read as RFC 9112 says, and nothing that was hidden in
// one is carried out.
func TestNobodySmugglesARequest(t *testing.T) {
	s := newStage(t)
	const program = `{"problem_id": "aplusb", "language": "cpp", "code": "hidden"}`
	hidden := fmt.Sprintf("POST /submit HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.server.Addr(), len(program), program)
	head := "POST /submit HTTP/1.1\r\nHost: " + s.server.Addr() + "\r\nContent-Type: application/json\r\n"
	chunk := "0\r\n\r\n"
	clear := map[string]string{ // what follows is another request, and is carried out
		"chunks after a tab": "400 200", "a bare line feed": "400 200", "no host": "421 200",
	}
	stored := 0
	for name, raw := range map[string]string{
		"a length and chunks":                 head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk,
		"a long length and chunks":            head + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n", len(chunk)+len(hidden)) + chunk,
		"two lengths":                         head + fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n", len(hidden)),
		"two lengths, the other way":          head + fmt.Sprintf("Content-Length: %d\r\nContent-Length: 0\r\n\r\n", len(hidden)),
		"a list of lengths":                   head + fmt.Sprintf("Content-Length: 0, %d\r\n\r\n", len(hidden)),
		"a length with a sign":                head + "Content-Length: +0\r\n\r\n",
		"a negative length":                   head + "Content-Length: -1\r\n\r\n",
		"a length in hexadecimal":             head + "Content-Length: 0x0\r\n\r\n",
		"a space before the colon":            head + fmt.Sprintf("Content-Length : %d\r\n\r\n", len(hidden)),
		"chunks, with a space":                head + "Transfer-Encoding : chunked\r\n\r\n" + chunk,
		"chunks of another name":              head + "Transfer-Encoding: xchunked\r\n\r\n" + chunk,
		"chunks and identity":                 head + "Transfer-Encoding: chunked, identity\r\n\r\n" + chunk,
		"chunks twice":                        head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunk,
		"chunks after a tab":                  head + "Transfer-Encoding:\tchunked\r\n\r\n" + chunk,
		"a folded header":                     head + "X: a\r\n Content-Length: 5\r\n\r\n",
		"a bare carriage return":              head + "X: a\rContent-Length: 5\r\n\r\n",
		"a bare line feed":                    strings.ReplaceAll(head, "\r\n", "\n") + "Content-Length: 0\n\n",
		"a NUL in a header":                   head + "X: a\x00\r\nContent-Length: 0\r\n\r\n",
		"a chunk whose length is not one":     head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"a chunk that is longer than it says": head + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
		"a chunk with a negative length":      head + "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
		"two hosts":                           head + "Host: example.org\r\nContent-Length: 0\r\n\r\n",
		"no host":                             "POST /submit HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", s.server.Addr())
		s.must(err)
		s.must(conn.SetDeadline(time.Now().Add(time.Minute)))
		_, err = io.WriteString(conn, raw+hidden)
		s.must(err)
		s.must(conn.(*net.TCPConn).CloseWrite())
		var statuses []string
		r := bufio.NewReader(conn)
		for {
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				break
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			statuses = append(statuses, strconv.Itoa(resp.StatusCode))
		}
		conn.Close()
		want, second := clear[name]
		if second {
			stored++
		} else {
			want = "400"
		}
		if got := strings.Join(statuses, " "); got != want {
			t.Errorf("%s is answered with %s, want %s", name, got, want)
		}
		stats, err := s.store.QueueStats(t.Context())
		s.must(err)
		if stats.Pending != int64(stored) {
			t.Fatalf("%s: %d programs are stored, want %d", name, stats.Pending, stored)
		}
	}
}

func TestABodyThatNeverComesIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"of a length": 10, "in chunks": -1} {
		here, there := net.Pipe()
		defer here.Close()
		defer there.Close()
		if err := here.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(there, "half") }()
		if _, err := readBody(here, size, 100); !errors.Is(err, fiber.ErrRequestTimeout) {
			t.Errorf("a body %s: %v", name, err)
		}
	}
	if fiber.ErrRequestTimeout.Code != http.StatusRequestTimeout {
		t.Error("it is another status than 408")
	}
}
