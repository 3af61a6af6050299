package room

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/cgroup"
	"deepoj/sandbox/internal/rootfs"
	"deepoj/sandbox/internal/seccomp"
	"deepoj/sandbox/internal/spawn"
	"deepoj/sandbox/internal/toolbox"
	"deepoj/sandbox/internal/userns"
	"deepoj/sandbox/internal/wire"
	"deepoj/sandbox/landlock"
)

// Host is what the rooms of a process share. There is one per agent, and one per one-shot run.
type Host struct {
	Config     wire.Config
	Log        *slog.Logger
	Driver     cgroup.Driver
	Tools      *toolbox.Toolbox
	machine    machine
	Cores      []int           // numbers of the cores that boxes run on
	filter     *unix.SockFprog // of programs
	locking    *unix.SockFprog // of programs that may lock files
	roomFilter *unix.SockFprog // nil in a room for only one program
	hard       map[int]uint64  // our own hard limits, which no program can exceed
	null       *os.File
	counter    *os.File    // of process ids, see room.counted; nil where there is none
	uncounted  atomic.Bool // it was found that the counter cannot be set
	networks   networks
	buffers    sync.Pool // of *buffers
	largePages bool      // an empty /box has large pages, which a program that can write there must not have
	epoch      time.Time

	// lifeline is a pipe that reaches its end when this process dies. Only reapers read from it.
	lifeline [2]*os.File

	Status wire.Status // what is known so far
	oneID  bool        // whether programs have no user ids of their own

	serial atomic.Int64
	Broken chan error // delivers why no room can be relied on any more
	folder string     // of its control groups
}

// NewHost prepares what it takes to begin a room.
func NewHost(cfg wire.Config) (*Host, error) {
	if err := wire.Supported(); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("the sandbox agent must run as root: start the program with sudo")
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return nil, fmt.Errorf("ask for the time: %w", err)
	}
	h := &Host{
		Config: cfg, Log: cfg.Log, epoch: time.Now().Add(-time.Duration(now.Nano())),
		Broken: make(chan error, 1), folder: cgroup.AgentPrefix + strconv.Itoa(os.Getpid()),
	}
	h.Log = cmp.Or(h.Log, slog.New(slog.DiscardHandler))
	h.Config.CgroupRoot = cmp.Or(h.Config.CgroupRoot, "deepoj")
	h.Config.FirstUID = cmp.Or(h.Config.FirstUID, defaultUID)
	var err error
	if h.Cores, h.Config.Slots, err = Size(h.Config); err != nil {
		return nil, err
	}
	if h.machine, err = thisMachine(len(h.Cores)); err != nil {
		return nil, err
	}
	if h.hard, err = limitProcess(); err != nil {
		return nil, err
	}
	if err := errors.Join(spawn.HideMemory(), spawn.IgnoreDeaths()); err != nil {
		return nil, err
	}
	h.Status.Landlock, h.Status.Rootless = landlock.Version(), userns.Inside()
	if err := h.chooseIDs(); err != nil {
		return nil, err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/null: %w", err)
	}
	h.null = os.NewFile(uintptr(null), os.DevNull)
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, errors.Join(fmt.Errorf("make a pipe: %w", err), h.null.Close())
	}
	h.lifeline = [2]*os.File{os.NewFile(uintptr(p[0]), "lifeline"), os.NewFile(uintptr(p[1]), "lifeline")}
	return h, nil
}

// UserIDs is how many user ids an agent with so many slots uses: for rooms in
// use, made in advance, and being torn down.
func UserIDs(slots int) int { return 4*slots + 16 }

const defaultUID = 61000

// chooseIDs finds out whether programs can have user ids of their own.
func (h *Host) chooseIDs() error {
	n, err := userns.Available()
	if err != nil {
		return err
	}
	h.oneID = n < userns.Enough
	if last := h.UID(UserIDs(h.Config.Slots) + h.Config.Slots); last >= n {
		return fmt.Errorf("FirstUID %d: programs need user ids up to %d, and there are %d: give this user more in /etc/subuid and /etc/subgid",
			h.Config.FirstUID, last, n)
	}
	return nil
}

// UID returns the user id of the nth room.
func (h *Host) UID(n int) int {
	if h.oneID {
		return 0
	}
	return h.Config.FirstUID + n
}

// reaperID returns the user id of reapers.
func (h *Host) reaperID() int {
	if h.oneID {
		return 0
	}
	return nobody
}

// oneIDText is what Status.Degraded says of an agent that has only one user id.
const oneIDText = "programs have no user id of their own: install the package uidmap and give this user 65536 ids in /etc/subuid and /etc/subgid"

// PrepareRuns prepares what it takes to run programs in rooms, one after the other.
func (h *Host) PrepareRuns() {
	h.counter = openCounter()
	h.filter, h.locking = seccomp.Compile(seccomp.Program(false)), seccomp.Compile(seccomp.Program(true))
	h.roomFilter = seccomp.Compile(seccomp.Room())
	h.Tools = toolbox.New(h.Config)
	h.largePages = rootfs.LargePages()
	h.networks = make(networks, h.Config.Slots)
}

// prepareRun prepares what it takes to run only one program, in a box with options.
func (h *Host) prepareRun(o wire.BoxOptions) {
	f := seccomp.Compile(seccomp.Only(o.Locks))
	h.filter, h.locking = f, f
	h.Tools = toolbox.New(h.Config)
}

// ChooseDriver chooses a control group driver. Where try is given, it tries rooms
// with the driver, and says whether that is good.
func (h *Host) ChooseDriver(try func() error) error {
	cfg := h.Config
	cfg.AllowDegraded = cfg.AllowDegraded && !h.oneID // the processes of one room could not be counted
	var tryDriver func(cgroup.Driver) error
	if try != nil {
		tryDriver = func(d cgroup.Driver) error {
			h.Driver = d
			return try()
		}
	}
	d, err := cgroup.Choose(cfg, h.folder, tryDriver)
	if err != nil {
		if h.Config.AllowDegraded && h.oneID {
			err = fmt.Errorf("%w; without control groups, %s", err, oneIDText)
		}
		return err
	}
	h.Driver, h.Status.Driver, h.Status.Degraded = d, d.Name(), d.Degraded()
	if h.oneID {
		h.Status.Degraded = append(h.Status.Degraded, oneIDText)
	}
	return nil
}

// Size returns the numbers of the cores that the boxes of a configuration run on, and
// how many boxes may be open at once.
func Size(cfg wire.Config) (cores []int, slots int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, 0, fmt.Errorf("ask which cores there are: %w", err)
	}
	for n := range wire.MaxCores {
		if set.IsSet(n) && (len(cfg.Cores) == 0 || slices.Contains(cfg.Cores, n)) {
			cores = append(cores, n)
		}
	}
	if len(cores) == 0 {
		return nil, 0, fmt.Errorf("none of the cores %v may be used", cfg.Cores)
	}
	return cores, cmp.Or(cfg.Slots, max(len(cores), 2)), nil
}

// affinity returns the set of n cores that a run in the slot may use, the slot's own first.
func (h *Host) affinity(slot, n int) *unix.CPUSet {
	set := new(unix.CPUSet)
	for i := range n {
		set.Set(h.Cores[(slot+i)%len(h.Cores)])
	}
	return set
}

// GiveUp ends the agent because of what cannot be mended within it: the kernel ends
// what it holds, and whoever keeps it starts the next one.
func (h *Host) GiveUp(err error) {
	select {
	case h.Broken <- err:
	default: // one reason is enough
	}
}

// Close closes what the host holds open, but not its driver.
func (h *Host) Close() error {
	errs := []error{h.null.Close(), h.lifeline[0].Close(), h.lifeline[1].Close(), h.networks.close()}
	if h.counter != nil {
		errs = append(errs, h.counter.Close())
	}
	return errors.Join(errs...)
}

// EndsWithStarter says in the name of the agent's folders that it has no reason to live when its starter is gone.
func (h *Host) EndsWithStarter() { h.folder += "-" + strconv.Itoa(os.Getppid()) }
