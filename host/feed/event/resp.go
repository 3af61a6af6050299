package event

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
)

// AppendResp appends a command in the protocol of Redis. A pksetexat, which only PikiwiDB knows and which says when a key
// ends, becomes a setex with the seconds from execTime until then, or a set if it says 0, which means never.
func AppendResp(dst []byte, argv [][]byte, execTime uint32) []byte {
	if len(argv) == 4 && bytes.EqualFold(argv[0], []byte("pksetexat")) {
		switch ends, err := strconv.ParseInt(string(argv[2]), 10, 64); {
		case err != nil || ends < 0:
		case ends == 0:
			return appendArray(dst, [][]byte{[]byte("set"), argv[1], argv[3]})
		default:
			left := max(ends-int64(execTime), 1) // it has ended: 1 is what ends soonest
			return appendArray(dst, [][]byte{[]byte("setex"), argv[1], strconv.AppendInt(nil, left, 10), argv[3]})
		}
	}
	return appendArray(dst, argv)
}

func appendArray(dst []byte, argv [][]byte) []byte {
	dst = strconv.AppendInt(append(dst, '*'), int64(len(argv)), 10)
	dst = append(dst, "\r\n"...)
	for _, a := range argv {
		dst = strconv.AppendInt(append(dst, '$'), int64(len(a)), 10)
		dst = append(dst, "\r\n"...)
		dst = append(dst, a...)
		dst = append(dst, "\r\n"...)
	}
	return dst
}

// Types are the types of keys.
func Types() []string { return []string{"string", "list", "hash", "set", "zset", "stream"} }

// Generic is the type of commands that take keys of any.
const Generic = "generic"

// commands are those that write, by the type of their first key.
var commands = map[string]string{
	"string": "append bitop decr decrby getdel getset incr incrby incrbyfloat mset msetnx pfadd pfmerge pksetexat psetex set setbit setex setnx setrange",
	"list":   "blpop brpop brpoplpush linsert lmove lpop lpush lpushx lrem lset ltrim rpop rpoplpush rpush rpushx",
	"hash":   "hdel hincrby hincrbyfloat hmset hset hsetnx",
	"set":    "sadd sdiffstore sinterstore smove spop srem sunionstore",
	"zset":   "geoadd georadius georadiusbymember zadd zincrby zinterstore zpopmax zpopmin zrem zremrangebylex zremrangebyrank zremrangebyscore zunionstore",
	"stream": "xack xadd xclaim xdel xgroup xreadgroup xsetid xtrim",
}

var typeOf = func() map[string]string {
	all := map[string]string{}
	for _, t := range slices.Sorted(maps.Keys(commands)) {
		for name := range bytes.FieldsSeq([]byte(commands[t])) {
			all[string(name)] = t
		}
	}
	return all
}()

// TypeOf returns the type of the keys that a command writes, or [Generic] if that may be any.
func TypeOf(command []byte) string {
	var lower [24]byte
	if len(command) > len(lower) {
		return Generic
	}
	for i, c := range command {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	if t, known := typeOf[string(lower[:len(command)])]; known {
		return t
	}
	return Generic
}
