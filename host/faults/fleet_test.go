package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deepoj/host/platform"
)

// member is one place in the fleet: a role that lives again and again.
type member struct {
	w    *world
	role role
	rng  *rand.Rand

	mu   sync.Mutex
	cmd  *exec.Cmd // of the present life
	life int
	due  role // how it is to end, if that has to happen
}

// add starts a member; it lives until the world ends.
func (w *world) add(r role, seed uint64) *member {
	m := &member{w: w, role: r, rng: rand.New(rand.NewPCG(w.seed, seed))}
	w.members = append(w.members, m)
	w.parts.Go(m.live)
	return m
}

// live starts the process whenever it ends, until the world does.
func (m *member) live() {
	// Children are killed when the thread that started them ends.
	runtime.LockOSThread()
	for {
		m.mu.Lock()
		select {
		case <-m.w.over:
			m.mu.Unlock()
			return
		default:
		}
		cmd, err := m.begin()
		m.mu.Unlock()
		if err != nil {
			m.w.wrong("start %s: %v", m.role.Name, err)
			return
		}
		done := make(chan struct{})
		go m.wake(cmd.Process.Pid, done)
		err = cmd.Wait()
		close(done)
		m.ended()
		m.note(err)
	}
}

// begin starts the next life with a death of its own.
func (m *member) begin() (*exec.Cmd, error) {
	m.life++
	m.due = role{}
	r := m.role
	r.Name = fmt.Sprintf("%s.%d", r.Name, m.life)
	if r.Kind == "worker" {
		r.Journal = filepath.Join(m.w.dir, r.Name+".journal")
		if !m.w.calm.Load() {
			m.plan(&r)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	m.cmd = exec.Command("/proc/self/exe")
	m.cmd.Env = append(os.Environ(), roleEnv+"="+string(text))
	m.cmd.Stderr = m.w.log
	m.cmd.SysProcAttr = &syscall.SysProcAttr{}
	platform.DieWithParent(m.cmd.SysProcAttr, syscall.SIGKILL)
	return m.cmd, m.cmd.Start()
}

// plan draws where this life ends.
func (m *member) plan(r *role) {
	switch first := m.w.first; {
	case first.Step != "": // one death is wanted, and no other
		if r.Name != "worker0.1" {
			return
		}
		r.Step, r.Nth, r.Stops, r.Once = first.Step, 1, first.Stops, true
	case m.w.stepsPerLife == 0 || m.rng.IntN(40) == 0:
		return // it lives until somebody kills it
	case m.w.take(&m.due):
		r.Skew, r.Step, r.Nth, r.Stops = m.due.Skew, m.due.Step, 1, m.due.Stops
		m.due.Journal = r.Journal
	default:
		r.Skew = time.Duration(m.rng.IntN(3)-1) * time.Hour
		r.Step, r.Nth, r.Stops = steps[m.rng.IntN(len(steps))], 1+m.rng.IntN(m.w.stepsPerLife), m.rng.IntN(4) == 0
	}
	m.w.say("%s: SIG%s at its %d. %q, clock %v", r.Name, map[bool]string{true: "STOP", false: "KILL"}[r.Stops], r.Nth, r.Step, r.Skew)
}

// everyDeath is every way in which a worker can die or stop at a step, with
// clocks that are right and wrong.
func everyDeath() (all []role) {
	for i, step := range steps {
		for _, stops := range []bool{false, true} {
			all = append(all, role{Step: step, Stops: stops, Skew: time.Duration(i%3-1) * time.Hour})
		}
	}
	return all
}

// death names how a worker dies.
func (r role) death() string {
	return map[bool]string{true: "SIGSTOP at ", false: "SIGKILL at "}[r.Stops] + r.Step
}

// take takes a death that has not happened yet, if there is one.
func (w *world) take(due *role) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.deaths) == 0 {
		return false
	}
	*due, w.deaths = w.deaths[0], w.deaths[1:]
	return true
}

// happened counts the death that is due as soon as the process has noted it, and
// reports whether none is left to happen.
func (m *member) happened() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.due.Step == "" {
		return true
	}
	data, err := os.ReadFile(m.due.Journal)
	if err != nil || !bytes.Contains(data, []byte("at "+m.due.Step+"\n")) {
		return false
	}
	m.w.count(m.due.death())
	m.due = role{}
	return true
}

// ended leaves a death that has not happened to another life: something else has
// killed this one before.
func (m *member) ended() {
	if m.happened() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.deaths = append(m.w.deaths, m.due)
	m.due = role{}
}

// note counts how a life ended.
func (m *member) note(err error) {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return // in order
	}
	status, _ := exit.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		m.w.count(m.role.Kind + " died")
	case status.Signaled() && status.Signal() == syscall.SIGTERM:
		// It was told to end before it had begun to listen.
	default:
		m.w.wrong("%s.%d ended: %v", m.role.Name, m.life, err)
	}
}

// wake continues a process that has stopped itself, after longer or shorter than
// a lease.
func (m *member) wake(pid int, done <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if !stopped(pid) {
			continue
		}
		m.w.count(m.role.Kind + " stopped")
		m.happened()
		if m.w.first.Stops {
			return // it is late for certain: see run
		}
		nap := time.Duration(m.w.intN(int(3 * (lease + grace))))
		select {
		case <-done:
			return
		case <-time.After(nap):
		}
		m.signal(syscall.SIGCONT)
	}
}

// stopped reports whether a process has been stopped (proc_pid_stat(5), state T).
func stopped(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, found := strings.Cut(string(data), ") ")
	return found && strings.HasPrefix(rest, "T")
}

// signal sends to the present life.
func (m *member) signal(s syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd != nil && m.cmd.Process != nil {
		_ = m.cmd.Process.Signal(s) // it may have ended
	}
}

// dismiss ends the fleet in order, workers first. Those that do not go in time
// are killed.
func (w *world) dismiss(t *testing.T) {
	t.Helper()
	close(w.over)
	for _, m := range w.members {
		m.signal(syscall.SIGCONT)
		m.signal(syscall.SIGTERM)
	}
	gone := make(chan struct{})
	go func() {
		w.parts.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(time.Minute):
		for _, m := range w.members {
			m.signal(syscall.SIGKILL)
		}
		<-gone
		w.wrong("some processes did not end within a minute of SIGTERM")
	}
}
