package cgroup

import (
	"cmp"
	"errors"
	"time"

	"deepoj/sandbox/internal/wire"
)

// hybridGroup bounds memory and processes with v1 controllers while programs
// are born into, counted and killed in a leaf of the unified hierarchy, which
// the room's own thread is not part of.
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
