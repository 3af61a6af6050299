// Package fuel counts what one call of a guest uses. A rewritten module takes fuel from a counter of its own and asks
// its host for more in slices; the host charges the same meter for what it does on behalf of the guest.
package fuel

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"github.com/tetratelabs/wazero/api"
	"golang.org/x/sys/unix"

	"deepoj/host/plugin/internal/wire"
)

// bytesPerUnit is how many bytes of bulk operations, and of input and output, a unit of fuel pays for.
const bytesPerUnit = 16

// slice is how much fuel a guest gets at a time. Between two slices the Go
// runtime of the worker can stop the guest for a moment, to collect garbage.
const slice = 8_000_000

// Refused is what tick answers to stop a guest.
const Refused = -1

// ErrSpent is what the host's side of input and output returns to a guest that is to stop.
var ErrSpent = errors.New("the guest has used what it had")

// Meter counts what one call uses: fuel, by the guest's own count and for what the host does for it, and output.
type Meter struct {
	Limit   int64         // of fuel
	granted int64         // fuel that the guest got
	work    int64         // fuel that the host used for it
	Output  int64         // bytes that it may still write
	Until   time.Duration // when it must end, by the clock of [ProcessTime]; 0 = whenever
	Fault   wire.Fault    // why it must stop
	Guest   api.Module
}

// Tick grants the next slice. It is what guests import.
func (m *Meter) Tick(_ context.Context, guest api.Module, stack []uint64) {
	m.Guest = guest
	grant := min(slice, m.Limit-m.granted-m.work)
	if m.Fault == wire.FaultNone && grant <= 0 {
		m.Fault = wire.FaultFuel
	}
	m.look()
	if m.Fault != wire.FaultNone {
		grant = Refused
	} else {
		m.granted += grant
	}
	stack[0] = api.EncodeI64(grant)
}

// look sees whether it is time to end.
func (m *Meter) look() {
	if m.Fault == wire.FaultNone && m.Until > 0 && ProcessTime() > m.Until {
		m.Fault = wire.FaultCPU
	}
}

// Until is when a call must end that may take so long and began at a time.
func Until(nanos int64, began time.Duration) time.Duration {
	if nanos == 0 {
		return 0
	}
	return began + time.Duration(nanos)
}

// Used returns the fuel that was used.
func (m *Meter) Used() uint64 {
	if m.Fault == wire.FaultFuel {
		return uint64(m.Limit)
	}
	used := m.granted + m.work
	if m.Guest != nil {
		if left := m.Guest.ExportedGlobal(Counter); left != nil {
			used -= int64(left.Get())
		}
	}
	return uint64(max(used, 0))
}

// Charge takes fuel for moving n bytes in or out of the guest.
func (m *Meter) Charge(n int) error {
	if m.Fault != wire.FaultNone {
		return ErrSpent
	}
	before := m.work / slice
	if m.work += int64(n) / bytesPerUnit; m.work/slice != before {
		m.look() // a guest that leaves its work to the host asks for few slices
	}
	if m.Fault != wire.FaultNone {
		return ErrSpent
	}
	if m.work > m.Limit {
		m.Fault = wire.FaultFuel
		return ErrSpent
	}
	return nil
}

// Write takes n bytes of what the guest may write, and charges for them.
func (m *Meter) Write(n int64) error {
	if m.Fault != wire.FaultNone {
		return ErrSpent
	}
	if n > m.Output {
		m.Fault = wire.FaultOutput
		return ErrSpent
	}
	m.Output -= n
	return m.Charge(int(n))
}

// Sink keeps a stream that a guest writes.
type Sink struct {
	m    *Meter
	data []byte
}

// NewSink returns an empty sink.
func NewSink(m *Meter) *Sink { return &Sink{m: m} }

// Bytes returns what was written.
func (s *Sink) Bytes() []byte { return s.data }

func (s *Sink) Write(p []byte) (int, error) {
	if err := s.m.Write(int64(len(p))); err != nil {
		return 0, err
	}
	s.data = append(s.data, p...)
	return len(p), nil
}

// Dice are the random numbers of a guest: the same in each call.
type Dice struct {
	M     *Meter
	state uint64
}

func (d *Dice) Read(p []byte) (int, error) {
	if err := d.M.Charge(len(p) * bytesPerUnit); err != nil { // a unit for each byte: they are computed
		return 0, err
	}
	var word [8]byte
	for at := 0; at < len(p); at += len(word) {
		d.state += 0x9e3779b97f4a7c15
		x := (d.state ^ d.state>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(word[:], x^x>>31)
		copy(p[at:], word[:])
	}
	return len(p), nil
}

// ProcessTime returns the processor time of this process.
func ProcessTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// MachineTime returns the time by the machine's monotonic clock.
func MachineTime() time.Duration { return clock(unix.CLOCK_MONOTONIC) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0 // both clocks always exist on Linux
	}
	return time.Duration(t.Nano())
}

// ReservedPrefix begins the names that the rewriter adds.
const ReservedPrefix = "judge."

// Names that the rewriter adds to a module.
const (
	TickModule = "judge"
	TickName   = "tick"
	Counter    = ReservedPrefix + "fuel"
)

// State is under what name the rewriter exports the global number i of those
// that a call may change. A module whose instances cannot be used again has none.
func State(i int) string { return ReservedPrefix + "state." + strconv.Itoa(i) }
