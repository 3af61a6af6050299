package plugin

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// slice is how much fuel a guest gets at a time. Between two slices the Go
// runtime of the worker can stop the guest for a moment, to collect garbage.
const slice = 8_000_000

// refused is what tick answers to stop a guest.
const refused = -1

// errSpent is what the host's side of input and output returns to a guest that
// is to stop.
var errSpent = errors.New("the guest has used what it had")

// meter counts what one call uses: fuel, by the guest's own count and for what
// the host does for it, and output.
type meter struct {
	limit   int64         // of fuel
	granted int64         // fuel that the guest got
	work    int64         // fuel that the host used for it
	output  int64         // bytes that it may still write
	until   time.Duration // when it must end, by the clock of [processTime]; 0 = whenever
	fault   fault         // why it must stop
	guest   api.Module
}

// tick grants the next slice. It is what guests import.
func (m *meter) tick(_ context.Context, guest api.Module, stack []uint64) {
	m.guest = guest
	grant := min(slice, m.limit-m.granted-m.work)
	if m.fault == faultNone && grant <= 0 {
		m.fault = faultFuel
	}
	m.look()
	if m.fault != faultNone {
		grant = refused
	} else {
		m.granted += grant
	}
	stack[0] = api.EncodeI64(grant)
}

// look sees whether it is time to end.
func (m *meter) look() {
	if m.fault == faultNone && m.until > 0 && processTime() > m.until {
		m.fault = faultCPU
	}
}

// until is when a call must end that may take so long and began at a time.
func until(nanos int64, began time.Duration) time.Duration {
	if nanos == 0 {
		return 0
	}
	return began + time.Duration(nanos)
}

// used returns the fuel that was used.
func (m *meter) used() uint64 {
	if m.fault == faultFuel {
		return uint64(m.limit)
	}
	used := m.granted + m.work
	if m.guest != nil {
		if left := m.guest.ExportedGlobal(fuelName); left != nil {
			used -= int64(left.Get())
		}
	}
	return uint64(max(used, 0))
}

// charge takes fuel for moving n bytes in or out of the guest.
func (m *meter) charge(n int) error {
	if m.fault != faultNone {
		return errSpent
	}
	before := m.work / slice
	if m.work += int64(n) / bytesPerUnit; m.work/slice != before {
		m.look() // a guest that leaves its work to the host asks for few slices
	}
	if m.fault != faultNone {
		return errSpent
	}
	if m.work > m.limit {
		m.fault = faultFuel
		return errSpent
	}
	return nil
}

// write takes n bytes of what the guest may write, and charges for them.
func (m *meter) write(n int64) error {
	if m.fault != faultNone {
		return errSpent
	}
	if n > m.output {
		m.fault = faultOutput
		return errSpent
	}
	m.output -= n
	return m.charge(int(n))
}

// sink keeps a stream that a guest writes.
type sink struct {
	m    *meter
	data []byte
}

func (s *sink) Write(p []byte) (int, error) {
	if err := s.m.write(int64(len(p))); err != nil {
		return 0, err
	}
	s.data = append(s.data, p...)
	return len(p), nil
}

// dice are the random numbers of a guest: the same in each call.
type dice struct {
	m     *meter
	state uint64
}

func (d *dice) Read(p []byte) (int, error) {
	if err := d.m.charge(len(p) * bytesPerUnit); err != nil { // a unit for each byte: they are computed
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
