package wire

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// parser reads the fields of one message, one after the other. Its first error ends it.
type parser struct {
	what string // the message, for errors
	rest []byte
	seen uint32 // a bit for each field that came

	number int
	kind   protowire.Type
	value  uint64
	bytes  []byte
	err    error
}

// next reads a field. Fields of kinds that no message has are passed over, as protobuf wants it.
func (p *parser) next() bool {
	for p.err == nil && len(p.rest) > 0 {
		number, kind, n := protowire.ConsumeTag(p.rest)
		if n < 0 {
			return p.fail("a field's number: %w", protowire.ParseError(n))
		}
		p.rest = p.rest[n:]
		p.number, p.kind, p.value, p.bytes = int(number), kind, 0, nil
		known := true
		switch kind { //nolint:exhaustive // messages have two kinds of fields
		case protowire.VarintType:
			p.value, n = protowire.ConsumeVarint(p.rest)
		case protowire.BytesType:
			p.bytes, n = protowire.ConsumeBytes(p.rest)
		default:
			known, n = false, protowire.ConsumeFieldValue(number, kind, p.rest)
		}
		if n < 0 {
			return p.fail("field %d: %w", number, protowire.ParseError(n))
		}
		p.rest = p.rest[n:]
		if known {
			return true
		}
	}
	return false
}

func (p *parser) fail(format string, args ...any) bool {
	if p.err == nil {
		p.err = fmt.Errorf("%s: "+format, append([]any{p.what}, args...)...)
	}
	return false
}

// is checks the kind of the field.
func (p *parser) is(kind protowire.Type) bool {
	if p.kind != kind {
		return p.fail("field %d has the wire type %d and not %d", p.number, p.kind, kind)
	}
	return true
}

// once checks the kind of a field that comes once.
func (p *parser) once(kind protowire.Type) bool {
	bit := uint32(1) << (p.number & 31)
	if p.seen&bit != 0 {
		return p.fail("field %d comes twice", p.number)
	}
	p.seen |= bit
	return p.is(kind)
}

func (p *parser) uint(most uint64) uint64 {
	if !p.once(protowire.VarintType) {
		return 0
	}
	if p.value > most {
		p.fail("field %d is %d, and %d is the most", p.number, p.value, most)
		return 0
	}
	return p.value
}

func (p *parser) uint64() uint64 { return p.uint(math.MaxUint64) }
func (p *parser) uint32() uint32 { return uint32(p.uint(math.MaxUint32)) }
func (p *parser) bool() bool     { return p.uint(math.MaxUint64) != 0 }

func (p *parser) int32() int32 {
	v := int64(p.uint(math.MaxUint64))
	if v < math.MinInt32 || v > math.MaxInt32 {
		p.fail("field %d is %d, which has more than 32 bits", p.number, v)
		return 0
	}
	return int32(v)
}

// enum reads a value from 1 to last.
func (p *parser) enum(last uint64) uint64 {
	v := p.uint(math.MaxUint64)
	if p.err == nil && (v < 1 || v > last) {
		p.fail("field %d is %d, and it has no meaning but from 1 to %d", p.number, v, last)
	}
	return v
}

func (p *parser) data() []byte {
	if !p.once(protowire.BytesType) {
		return nil
	}
	return p.bytes
}

func (p *parser) text() string { return string(p.data()) }

// message begins the message that is the field.
func (p *parser) message(what string) parser {
	return parser{what: what, rest: p.data(), err: p.err}
}

// each begins the message that is one of a field that is repeated.
func (p *parser) each(what string) parser {
	if !p.is(protowire.BytesType) {
		return parser{err: p.err}
	}
	return parser{what: what, rest: p.bytes}
}

// need ends the message: each of those fields has to have come.
func (p *parser) need(numbers ...int) error {
	for _, n := range numbers {
		if p.seen&(1<<n) == 0 {
			p.fail("the required field %d is missing", n)
		}
	}
	return p.err
}

// take makes an error of a message within it one of the message.
func (p *parser) take(err error) {
	if err != nil {
		p.fail("%w", err)
	}
}

func appendUint(dst []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, n, protowire.VarintType), v)
}

func appendInt32(dst []byte, n protowire.Number, v int32) []byte {
	return appendUint(dst, n, uint64(int64(v)))
}

func appendBool(dst []byte, n protowire.Number, v bool) []byte {
	return appendUint(dst, n, protowire.EncodeBool(v))
}

func appendData[T string | []byte](dst []byte, n protowire.Number, v T) []byte {
	dst = protowire.AppendVarint(protowire.AppendTag(dst, n, protowire.BytesType), uint64(len(v)))
	return append(dst, v...)
}
