package plugin

import (
	"context"
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// The layout of poll_oneoff's arguments, and the errors that it returns here.
const (
	subscriptionBytes = 48
	subscriptionTag   = 8 // where the kind stands
	eventBytes        = 32
	eventKind         = 10
	maxSubscriptions  = 64

	errnoSuccess = 0
	errnoFault   = 21
	errnoInval   = 28
)

// poll is WASI's poll_oneoff in a world without waiting: every timer has run
// out, every descriptor is ready.
func poll(_ context.Context, guest api.Module, stack []uint64) {
	in, out := api.DecodeU32(stack[0]), api.DecodeU32(stack[1])
	n, result := api.DecodeU32(stack[2]), api.DecodeU32(stack[3])
	stack[0] = api.EncodeU32(pollMemory(guest.Memory(), in, out, n, result))
}

func pollMemory(m api.Memory, in, out, n, result uint32) uint32 {
	if n == 0 || n > maxSubscriptions {
		return errnoInval
	}
	subscriptions, ok := m.Read(in, n*subscriptionBytes)
	if !ok {
		return errnoFault
	}
	events := make([]byte, n*eventBytes)
	for i := range n {
		s := subscriptions[i*subscriptionBytes:]
		e := events[i*eventBytes:]
		copy(e[:8], s[:8])
		binary.LittleEndian.PutUint16(e[eventKind:], uint16(s[subscriptionTag]))
	}
	if !m.Write(out, events) || !m.WriteUint32Le(result, n) {
		return errnoFault
	}
	return errnoSuccess
}
