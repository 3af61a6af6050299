package postgres

import (
	"io"
	"time"
)

// How a fast stream is read.
const (
	atOnce   = 14 << 10             // bytes that one read is to bring
	busyRate = 2 << 20              // bytes per second, from which on reading pauses
	longest  = 4 * time.Millisecond // of a pause
	measured = time.Millisecond     // over which a rate is taken, at least
)

// paced reads a fast stream in few pieces. PostgreSQL sends each change by itself; who takes each as it comes wakes up
// for every one of them, and so does all that follows: the log, the workers, Kafka. While much comes, paced lets it
// pile up where it waits anyway, in the buffers of the connection, for a few milliseconds. A stream on which little
// comes is read at once.
type paced struct {
	r     io.Reader
	pause time.Duration
	since time.Time // when the rate began to be taken
	came  int       // bytes since then
}

func (p *paced) Read(b []byte) (int, error) {
	if p.pause > 0 {
		time.Sleep(p.pause) //nolint:forbidigo // a few milliseconds, and a reader has no context
	}
	n, err := p.r.Read(b)
	p.came += n
	now := time.Now()
	if took := now.Sub(p.since); took >= measured {
		p.pause = pauseAt(float64(p.came) / took.Seconds())
		p.since, p.came = now, 0
	}
	return n, err
}

// pauseAt is how long a stream with so many bytes per second is left alone.
func pauseAt(rate float64) time.Duration {
	if rate < busyRate {
		return 0
	}
	return min(longest, time.Duration(atOnce/rate*float64(time.Second)))
}
