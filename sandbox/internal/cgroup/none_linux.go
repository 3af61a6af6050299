package cgroup

import (
	"cmp"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"deepoj/sandbox/internal/proc"
	"deepoj/sandbox/internal/wire"
)

// noGroup stands in where there are no control groups. CPU time comes from the main process and the children it waited
// for, memory from looking at the processes now and then: a program can use more for a moment, or hide CPU time in
// orphans until the wall limit. That is why it must be allowed explicitly.
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

// resident returns how many pages of memory the process or thread has whose folder of /proc is dir.
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

// hybridGroup bounds memory and processes with v1 controllers while programs are born into, counted and killed in a
// leaf of the unified hierarchy, which the room's own thread is not part of.
type hybridGroup struct {
	v1 *v1Group
	v2 *v2Group
}

func (g *hybridGroup) Enter() error { return g.v1.Enter() }
func (g *hybridGroup) Leave() error { return g.v1.Leave() }
func (g *hybridGroup) Spawn() int   { return g.v2.Spawn() }

func (g *hybridGroup) Begin(memoryBytes int64, processes int) error {
	if err := g.v2.Begin(memoryBytes, processes); err != nil {
		return err
	}
	return g.v1.Begin(memoryBytes, processes)
}

func (g *hybridGroup) CPU() (time.Duration, error)            { return g.v2.CPU() }
func (g *hybridGroup) Memory() (peak, kills int64, err error) { return g.v1.Memory() }
func (g *hybridGroup) Starved(limitBytes int64) (bool, error) { return g.v1.Starved(limitBytes) }
func (g *hybridGroup) Pressure() time.Duration                { return g.v2.Pressure() }
func (g *hybridGroup) Kill(again func() error) (bool, error)  { return g.v2.Kill(again) }
func (g *hybridGroup) Widen(n int) error                      { return g.v1.Widen(n) }
func (g *hybridGroup) Tidy() error                            { return errors.Join(g.v2.Tidy(), g.v1.Tidy()) }

func (g *hybridGroup) Remove() error { return errors.Join(g.v2.Remove(), g.v1.Remove()) }

type hybridDriver struct{ folders *agentFolders }

func newHybridDriver(hs []hierarchy, cfg wire.Config, agent string) (Driver, error) {
	mounts := map[string]string{"": v2Mount(hs), "memory": v1Mount(hs, "memory"), "pids": v1Mount(hs, "pids")}
	f, err := claimV1(mounts, cfg.CgroupRoot, agent)
	if err != nil {
		return nil, err
	}
	return &hybridDriver{f}, nil
}

func (d *hybridDriver) Name() string       { return wire.DriverHybrid }
func (d *hybridDriver) Close() error       { return d.folders.close() }
func (d *hybridDriver) Degraded() []string { return nil }

func (d *hybridDriver) Open(room string) (Group, error) {
	v1, err := openV1Group(d.folders, room, "memory", "pids")
	if err != nil {
		return nil, err
	}
	v2, err := openV2Group(d.folders, cmp.Or(room, ownFolder), false)
	if err != nil {
		return nil, errors.Join(err, v1.Remove())
	}
	return &hybridGroup{v1: v1, v2: v2}, nil
}
