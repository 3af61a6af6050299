package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// noGroup stands in where there are no control groups. CPU time comes from the
// main process and the children it waited for, memory from looking at the
// processes now and then: a program can use more for a moment, or hide CPU time
// in orphans until the wall limit. That is why it must be allowed explicitly.
type noGroup struct {
	highest int64
}

// sampleEvery is how often memory is looked at.
const sampleEvery = 5 * time.Millisecond

func (g *noGroup) enter() error { return nil }
func (g *noGroup) leave() error { return nil }
func (g *noGroup) spawn() int   { return -1 }

func (g *noGroup) begin(int64, int) error {
	g.highest = 0
	return nil
}

func (g *noGroup) cpu() (time.Duration, error) { return 0, nil }

// memory adds up the resident memory of all processes in the room.
func (g *noGroup) memory() (peak, kills int64, err error) {
	pids, err := roomProcesses()
	if err != nil {
		return 0, 0, err
	}
	var pages int64
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid)
		n := resident(dir)
		if n == 0 { // its first thread may have ended, and others have its memory
			threads, _ := os.ReadDir(dir + "/task") // none if it ended meanwhile
			for _, t := range threads {
				n = max(n, resident(dir+"/task/"+t.Name()))
			}
		}
		pages += n
	}
	g.highest = max(g.highest, pages*int64(os.Getpagesize()))
	return g.highest, 0, nil
}

// resident returns how many pages of memory the process or thread has whose folder of
// /proc is dir.
func resident(dir string) int64 {
	b, err := os.ReadFile(dir + "/statm")
	if err != nil {
		return 0 // ended meanwhile
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	return leadingNumber(f[1])
}

func (g *noGroup) pressure() time.Duration         { return 0 }
func (g *noGroup) kill(func() error) (bool, error) { return false, errCannotKill }
func (g *noGroup) widen(int) error                 { return nil }
func (g *noGroup) tidy() error                     { return nil }
func (g *noGroup) starved(int64) (bool, error)     { return false, nil }
func (g *noGroup) remove() error                   { return nil }

// roomProcesses lists the processes of the room whose thread calls it, but the
// reaper.
func roomProcesses() ([]int, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

type noDriver struct{}

func (noDriver) name() string               { return DriverNone }
func (noDriver) close() error               { return nil }
func (noDriver) open(string) (group, error) { return &noGroup{}, nil }

func (noDriver) degraded() []string {
	return []string{"there are no control groups: memory is only sampled, and CPU time of orphans is not counted"}
}
