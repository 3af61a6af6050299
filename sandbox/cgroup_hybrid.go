package sandbox

import (
	"cmp"
	"errors"
	"time"
)

// hybridGroup bounds memory and processes with v1 controllers while programs
// are born into, counted and killed in a leaf of the unified hierarchy, which
// the room's own thread is not part of.
type hybridGroup struct {
	v1 *v1Group
	v2 *v2Group
}

func (g *hybridGroup) enter() error { return g.v1.enter() }
func (g *hybridGroup) leave() error { return g.v1.leave() }
func (g *hybridGroup) spawn() int   { return g.v2.spawn() }

func (g *hybridGroup) begin(memoryBytes int64, processes int) error {
	if err := g.v2.begin(memoryBytes, processes); err != nil {
		return err
	}
	return g.v1.begin(memoryBytes, processes)
}

func (g *hybridGroup) cpu() (time.Duration, error)            { return g.v2.cpu() }
func (g *hybridGroup) memory() (peak, kills int64, err error) { return g.v1.memory() }
func (g *hybridGroup) starved(limitBytes int64) (bool, error) { return g.v1.starved(limitBytes) }
func (g *hybridGroup) pressure() time.Duration                { return g.v2.pressure() }
func (g *hybridGroup) kill(again func() error) (bool, error)  { return g.v2.kill(again) }
func (g *hybridGroup) widen(n int) error                      { return g.v1.widen(n) }
func (g *hybridGroup) tidy() error                            { return errors.Join(g.v2.tidy(), g.v1.tidy()) }

func (g *hybridGroup) remove() error { return errors.Join(g.v2.remove(), g.v1.remove()) }

type hybridDriver struct{ folders *agentFolders }

func newHybridDriver(hs []hierarchy, cfg Config, agent string) (driver, error) {
	mounts := map[string]string{"": v2Mount(hs), "memory": v1Mount(hs, "memory"), "pids": v1Mount(hs, "pids")}
	f, err := claimV1(mounts, cfg.CgroupRoot, agent)
	if err != nil {
		return nil, err
	}
	return &hybridDriver{f}, nil
}

func (d *hybridDriver) name() string       { return DriverHybrid }
func (d *hybridDriver) close() error       { return d.folders.close() }
func (d *hybridDriver) degraded() []string { return nil }

func (d *hybridDriver) open(room string) (group, error) {
	v1, err := openV1Group(d.folders, room, "memory", "pids")
	if err != nil {
		return nil, err
	}
	v2, err := openV2Group(d.folders, cmp.Or(room, ownFolder), false)
	if err != nil {
		return nil, errors.Join(err, v1.remove())
	}
	return &hybridGroup{v1: v1, v2: v2}, nil
}
