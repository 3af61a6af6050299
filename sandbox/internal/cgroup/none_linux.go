package cgroup

import (
	"os"
	"strconv"
	"strings"
	"time"

	"deepoj/sandbox/internal/proc"
	"deepoj/sandbox/internal/wire"
)

// noGroup stands in where there are no control groups. CPU time comes from the
// main process and the children it waited for, memory from looking at the
// processes now and then: a program can use more for a moment, or hide CPU time
// in orphans until the wall limit. That is why it must be allowed explicitly.
type noGroup struct {
	highest int64
}

// SampleEvery is how often memory is looked at.
const SampleEvery = 5 * time.Millisecond

func (g *noGroup) Enter() error { return nil }
func (g *noGroup) Leave() error { return nil }
func (g *noGroup) Spawn() int   { return -1 }

func (g *noGroup) Begin(int64, int) error {
	g.highest = 0
	return nil
}

func (g *noGroup) CPU() (time.Duration, error) { return 0, nil }

// Memory adds up the resident memory of all processes in the room.
func (g *noGroup) Memory() (peak, kills int64, err error) {
	pids, err := proc.Processes()
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

func (g *noGroup) Pressure() time.Duration         { return 0 }
func (g *noGroup) Kill(func() error) (bool, error) { return false, ErrCannotKill }
func (g *noGroup) Widen(int) error                 { return nil }
func (g *noGroup) Tidy() error                     { return nil }
func (g *noGroup) Starved(int64) (bool, error)     { return false, nil }
func (g *noGroup) Remove() error                   { return nil }

type noDriver struct{}

func (noDriver) Name() string               { return wire.DriverNone }
func (noDriver) Close() error               { return nil }
func (noDriver) Open(string) (Group, error) { return &noGroup{}, nil }

func (noDriver) Degraded() []string {
	return []string{"there are no control groups: memory is only sampled, and CPU time of orphans is not counted"}
}
