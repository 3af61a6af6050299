package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// agent is what Serve runs: a few rooms ready for use, and as many places as
// there are slots.
type agent struct {
	cfg        Config
	log        *slog.Logger
	driver     driver
	tools      *toolbox
	machine    machine
	cores      []int           // numbers of the cores that boxes run on
	filter     *unix.SockFprog // of programs
	locking    *unix.SockFprog // of programs that may lock files
	roomFilter *unix.SockFprog // nil in a room for only one program
	hard       map[int]uint64  // the agent's own hard limits, which no program can exceed
	null       *os.File
	counter    *os.File    // of process ids, see room.counted; nil where there is none
	uncounted  atomic.Bool // it was found that the counter cannot be set
	epoch      time.Time

	// lifeline is a pipe that reaches its end when the agent dies. Only reapers
	// read from it.
	lifeline [2]*os.File

	status Status
	health health
	oneID  bool // whether programs have no user ids of their own

	serial atomic.Int64
	uids   chan int      // free user ids
	places chan struct{} // taken slots
	seats  seats
	ready  chan *room // made in advance
	work   sync.WaitGroup
	broken chan error // delivers why the agent cannot go on
	folder string     // of its control groups
}

// uidCount is how many user ids an agent with so many slots uses: for rooms in
// use, made in advance, and being torn down.
func uidCount(slots int) int { return 4*slots + 16 }

const defaultUID = 61000

// chooseIDs finds out whether programs can have user ids of their own.
func (a *agent) chooseIDs() error {
	n, err := ownIDs()
	if err != nil {
		return err
	}
	a.oneID = n < manyIDs
	if last := a.uid(uidCount(a.cfg.Slots) + a.cfg.Slots); last >= n {
		return fmt.Errorf("FirstUID %d: programs need user ids up to %d, and there are %d: give this user more in /etc/subuid and /etc/subgid",
			a.cfg.FirstUID, last, n)
	}
	return nil
}

// uid returns the user id of the nth room.
func (a *agent) uid(n int) int {
	if a.oneID {
		return 0
	}
	return a.cfg.FirstUID + n
}

// reaperID returns the user id of reapers.
func (a *agent) reaperID() int {
	if a.oneID {
		return 0
	}
	return nobody
}

// oneIDText is what Status.Degraded says of an agent that has only one user id.
const oneIDText = "programs have no user id of their own: install the package uidmap and give this user 65536 ids in /etc/subuid and /etc/subgid"

// newAgent prepares everything but rooms. It runs a program with each control
// group driver until one works.
func newAgent(ctx context.Context, cfg Config) (*agent, error) {
	unix.Umask(0o022) // what it makes is for programs to read
	a, err := prepareAgent(cfg)
	if err != nil {
		return nil, err
	}
	a.endsWithStarter()
	a.counter = openCounter()
	a.prepareRuns()
	a.uids = make(chan int, uidCount(a.cfg.Slots))
	for i := range uidCount(a.cfg.Slots) {
		a.uids <- a.uid(i)
	}
	a.describe()
	err = a.chooseDriver(func(d driver) error {
		a.driver = d
		return a.selfTest(ctx)
	})
	if err != nil {
		return nil, errors.Join(err, a.closeFiles())
	}
	a.health.passed = time.Now()
	a.seats.boxes = make([]int, len(a.cores))
	a.places = make(chan struct{}, a.cfg.Slots)
	return a, nil
}

// prepareAgent prepares what it takes to begin a room.
func prepareAgent(cfg Config) (*agent, error) {
	if err := supported(); err != nil {
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
	a := &agent{
		cfg: cfg, log: cfg.Log, epoch: time.Now().Add(-time.Duration(now.Nano())), ready: make(chan *room),
		broken: make(chan error, 1), folder: agentPrefix + strconv.Itoa(os.Getpid()),
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.cfg.CgroupRoot == "" {
		a.cfg.CgroupRoot = "deepoj"
	}
	if a.cfg.FirstUID == 0 {
		a.cfg.FirstUID = defaultUID
	}
	if err := a.chooseCores(); err != nil {
		return nil, err
	}
	var err error
	if a.machine, err = thisMachine(len(a.cores)); err != nil {
		return nil, err
	}
	if a.hard, err = limitProcess(); err != nil {
		return nil, err
	}
	if err := errors.Join(hideMemory(), ignoreDeaths()); err != nil {
		return nil, err
	}
	a.status.Landlock, a.status.Rootless = landlockVersion(), userNamespace()
	if err := a.chooseIDs(); err != nil {
		return nil, err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/null: %w", err)
	}
	a.null = os.NewFile(uintptr(null), os.DevNull)
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, errors.Join(fmt.Errorf("make a pipe: %w", err), a.null.Close())
	}
	a.lifeline = [2]*os.File{os.NewFile(uintptr(p[0]), "lifeline"), os.NewFile(uintptr(p[1]), "lifeline")}
	return a, nil
}

// prepareRuns prepares what it takes to run programs in rooms.
func (a *agent) prepareRuns() {
	a.filter, a.locking = filterProgram(programFilter(false)), filterProgram(programFilter(true))
	a.roomFilter = filterProgram(roomFilter())
	a.tools = newToolbox(a.cfg)
}

// prepareRun prepares what it takes to run only one program, in a box with options.
func (a *agent) prepareRun(o BoxOptions) {
	f := filterProgram(onlyFilter(o.Locks))
	a.filter, a.locking = f, f
	a.tools = newToolbox(a.cfg)
}

// chooseDriver chooses a control group driver that try, where given, finds good.
func (a *agent) chooseDriver(try func(driver) error) error {
	cfg := a.cfg
	cfg.AllowDegraded = cfg.AllowDegraded && !a.oneID // the processes of one room could not be counted
	d, err := chooseDriver(cfg, a.folder, try)
	if err != nil {
		if a.cfg.AllowDegraded && a.oneID {
			err = fmt.Errorf("%w; without control groups, %s", err, oneIDText)
		}
		return err
	}
	a.driver, a.status.Driver, a.status.Degraded = d, d.name(), d.degraded()
	if a.oneID {
		a.status.Degraded = append(a.status.Degraded, oneIDText)
	}
	return nil
}

// chooseCores finds the cores that boxes run on, and how many slots there are.
func (a *agent) chooseCores() error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return fmt.Errorf("ask which cores there are: %w", err)
	}
	for n := range maxCores {
		if set.IsSet(n) && (len(a.cfg.Cores) == 0 || slices.Contains(a.cfg.Cores, n)) {
			a.cores = append(a.cores, n)
		}
	}
	if len(a.cores) == 0 {
		return fmt.Errorf("none of the cores %v may be used", a.cfg.Cores)
	}
	if a.cfg.Slots == 0 {
		a.cfg.Slots = max(len(a.cores), 2)
	}
	return nil
}

// affinity returns the set of n cores that a run in the slot may use, the slot's
// own first.
func (a *agent) affinity(slot, n int) *unix.CPUSet {
	set := new(unix.CPUSet)
	for i := range n {
		set.Set(a.cores[(slot+i)%len(a.cores)])
	}
	return set
}

// describe says what this agent is able to do.
func (a *agent) describe() {
	a.status.Slots, a.status.Cores, a.status.Seccomp = a.cfg.Slots, a.cores, true
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		a.status.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	if b, err := os.ReadFile("/proc/swaps"); err == nil {
		a.status.Swap = strings.Count(string(b), "\n") > 1
	}
}

// giveUp ends the agent because of what cannot be mended within it: the kernel ends
// what it holds, and whoever keeps it starts the next one.
func (a *agent) giveUp(err error) {
	select {
	case a.broken <- err:
	default: // one reason is enough
	}
}

// close removes what the agent made besides rooms.
func (a *agent) close() error {
	return errors.Join(a.driver.close(), a.closeFiles())
}

func (a *agent) closeFiles() error {
	errs := []error{a.null.Close(), a.lifeline[0].Close(), a.lifeline[1].Close()}
	if a.counter != nil {
		errs = append(errs, a.counter.Close())
	}
	return errors.Join(errs...)
}
