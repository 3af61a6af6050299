package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// spent is CPU time by who used it.
type spent struct{ self, postgres, redis time.Duration }

func (s spent) total() time.Duration { return s.self + s.postgres + s.redis }

func (s spent) minus(t spent) spent {
	return spent{s.self - t.self, s.postgres - t.postgres, s.redis - t.redis}
}

// cpu reads what this process and its two servers have used so far.
func (h *house) cpu(b *testing.B) spent {
	b.Helper()
	return spent{used(b, os.Getpid(), false), used(b, h.pg.PID(), true), used(b, h.redis.PID(), false)}
}

// used is the CPU time of a process and, if wanted, of its children, dead or
// alive: PostgreSQL has a process for each connection.
func used(b *testing.B, pid int, family bool) time.Duration {
	b.Helper()
	t, ok := stat(pid, family)
	if !ok {
		b.Fatalf("process %d has no figures", pid)
	}
	if !family {
		return t
	}
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(data)) {
			n, err := strconv.Atoi(child)
			if err != nil {
				b.Fatal(err)
			}
			own, _ := stat(n, false) // one that has ended counts with its parent
			t += own
		}
	}
	return t
}

// stat reads the CPU time of a process from /proc (proc_pid_stat(5), fields 14
// to 17, in hundredths of a second). Dead adds that of its dead children.
func stat(pid int, dead bool) (time.Duration, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name may hold blanks and parentheses; what follows the last is plain.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	const utime, stime, cutime, cstime = 11, 12, 13, 14
	var ticks int64
	for _, i := range []int{utime, stime, cutime, cstime} {
		if i >= cutime && !dead {
			break
		}
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, false
		}
		ticks += n
	}
	const tick = time.Second / 100
	return time.Duration(ticks) * tick, true
}
