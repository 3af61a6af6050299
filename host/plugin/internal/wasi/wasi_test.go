package wasi

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/wire"
)

// caller calls WASI as a guest does that has a page of memory.
type caller struct {
	t *testing.T
	w *World
	m api.Memory
}

// The places of arguments and results in the caller's memory.
const (
	atText   = 1024
	atResult = 8192
	atBuffer = 16384
)

func newCaller(t *testing.T, feedback bool) *caller {
	t.Helper()
	engine := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() {
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	// A module that only has a page of memory, which may grow to four.
	guest, err := engine.Instantiate(t.Context(), []byte("\x00asm\x01\x00\x00\x00\x05\x04\x01\x01\x01\x04\x07\x0a\x01\x06memory\x02\x00"))
	if err != nil {
		t.Fatal(err)
	}
	input, err := os.Create(filepath.Join(t.TempDir(), "input"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = input.Close() }) // only read
	if _, err := input.WriteString("0123456789"); err != nil {
		t.Fatal(err)
	}
	w := NewWorld(&fuel.Meter{Limit: 1 << 40, Output: 1 << 20}, []string{"input"}, []int{int(input.Fd())}, feedback)
	w.Connect(strings.NewReader("stdin"), fuel.NewSink(w.Meter), fuel.NewSink(w.Meter))
	return &caller{t, w, guest.Memory()}
}

func (c *caller) call(name string, args ...uint64) errno {
	c.t.Helper()
	f, ok := Functions[name]
	if params, _ := valueTypes(f.Types); !ok || len(params) != len(args) {
		c.t.Fatalf("%s does not take %d arguments", name, len(args))
	}
	return f.call(c.w, c.m, args)
}

// text puts a string into the memory and returns where it is and its length.
func (c *caller) text(s string) (at, size uint64) {
	c.m.WriteString(atText, s)
	return atText, uint64(len(s))
}

// open opens a file seen from the root, to write if it is to be made.
func (c *caller) open(name string, flags uint64) (uint64, errno) {
	c.t.Helper()
	rights := uint64(rightRead)
	if flags&openCreate != 0 {
		rights |= rightWrite
	}
	at, size := c.text(name)
	e := c.call("path_open", 3, 0, at, size, flags, rights, rights, 0, atResult)
	return uint64(c.result()), e
}

func (c *caller) result() uint32 {
	v, _ := c.m.ReadUint32Le(atResult)
	return v
}

// vector makes a list of one piece of memory.
func (c *caller) vector(size uint64) (list, n uint64) {
	c.m.WriteUint32Le(atText, atBuffer)
	c.m.WriteUint32Le(atText+4, uint32(size))
	return atText, 1
}

func (c *caller) read(fd, size uint64) (string, errno) {
	c.t.Helper()
	list, n := c.vector(size)
	if e := c.call("fd_read", fd, list, n, atResult); e != errnoSuccess {
		return "", e
	}
	b, _ := c.m.Read(atBuffer, c.result())
	return string(b), errnoSuccess
}

func (c *caller) write(fd uint64, s string) errno {
	c.t.Helper()
	c.m.WriteString(atBuffer, s)
	list, n := c.vector(uint64(len(s)))
	return c.call("fd_write", fd, list, n, atResult)
}

func (c *caller) want(what string, got, want errno) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("%s: error %d, not %d", what, got, want)
	}
}

func TestADescriptorIsGivenOutAgainWhenItIsClosed(t *testing.T) {
	t.Parallel()
	c := newCaller(t, false)
	first, e := c.open("input", 0)
	c.want("open", e, errnoSuccess)
	second, _ := c.open("input", 0)
	if first != 4 || second != 5 {
		t.Errorf("the files are %d and %d", first, second)
	}
	if got, e := c.read(first, 4); got != "0123" || e != errnoSuccess {
		t.Errorf("it reads %q, %d", got, e)
	}
	c.want("close", c.call("fd_close", first), errnoSuccess)
	c.want("close once more", c.call("fd_close", first), errnoBadf)
	if _, e := c.read(first, 4); e != errnoBadf {
		t.Errorf("reading a closed file: error %d", e)
	}
	if third, _ := c.open("input", 0); third != first {
		t.Errorf("the next file is %d", third)
	}
	c.want("renumber", c.call("fd_renumber", second, first), errnoSuccess)
	if got, _ := c.read(first, 1); got != "0" {
		t.Errorf("the renumbered file reads %q", got)
	}
	c.want("renumber what is gone", c.call("fd_renumber", second, first), errnoBadf)
	c.want("renumber to the root", c.call("fd_renumber", first, 3), errnoNotsup)
	c.want("renumber to nowhere", c.call("fd_renumber", first, 1<<31), errnoBadf)
	for e = errnoSuccess; e == errnoSuccess; {
		_, e = c.open("input", 0)
	}
	if c.want("open too many", e, errnoMfile); len(c.w.fds) != maxDescriptors {
		t.Errorf("%d descriptors are open", len(c.w.fds))
	}
}

func TestStreamsAreNeitherFilesNorFolders(t *testing.T) {
	t.Parallel()
	c := newCaller(t, false)
	if got, e := c.read(0, 99); got != "stdin" || e != errnoSuccess {
		t.Errorf("stdin gives %q, %d", got, e)
	}
	if got, e := c.read(0, 99); got != "" || e != errnoSuccess {
		t.Errorf("at its end stdin gives %q, %d", got, e)
	}
	c.want("write to stdin", c.write(0, "x"), errnoBadf)
	c.want("write to stdout", c.write(1, "out"), errnoSuccess)
	if _, e := c.read(1, 1); e != errnoBadf {
		t.Errorf("reading stdout: error %d", e)
	}
	c.want("seek in stdout", c.call("fd_seek", 1, 0, 0, atResult), errnoSpipe)
	c.want("read stdin at a place", c.call("fd_pread", 0, atText, 1, 0, atResult), errnoSpipe)
	c.want("make stdout longer", c.call("fd_filestat_set_size", 1, 9), errnoInval)
	c.want("list stdin", c.call("fd_readdir", 0, atBuffer, 100, 0, atResult), errnoBadf)
	c.want("what is stdin called", c.call("fd_prestat_get", 0, atResult), errnoBadf)
	at, size := c.text("input")
	c.want("open a file in stdin", c.call("path_open", 0, 0, at, size, 0, 2, 2, 0, atResult), errnoNotdir)
	if _, e := c.read(3, 1); e != errnoIsdir {
		t.Errorf("reading the root: error %d", e)
	}
	c.want("write to the root", c.write(3, "x"), errnoIsdir)
	c.want("a socket", c.call("sock_accept", 3, 0, atResult), errnoBadf)
}

func TestPathsStayInTheWorld(t *testing.T) {
	t.Parallel()
	c := newCaller(t, true)
	for name, want := range map[string]errno{
		"input": errnoSuccess, "./feedback/../input": errnoSuccess, "feedback": errnoSuccess, ".": errnoSuccess,
		"..": errnoPerm, "../input": errnoPerm, "feedback/../../input": errnoPerm, "/input": errnoPerm, "/etc/passwd": errnoPerm,
		"": errnoInval, "input\xff": errnoPerm, "other": errnoNoent, "feedback/none": errnoNoent,
		strings.Repeat("a", maxPath+1): errnoNametoolong, strings.Repeat("a/", maxPath/2): errnoNoent,
	} {
		if _, e := c.open(name, 0); e != want {
			t.Errorf("opening %.60q: error %d, not %d", name, e, want)
		}
	}
	for name, want := range map[string]errno{"new": errnoRofs, "input": errnoRofs, "feedback": errnoIsdir, "feedback/a": errnoSuccess} {
		if _, e := c.open(name, openCreate); e != want {
			t.Errorf("making %q: error %d, not %d", name, e, want)
		}
	}
	_, e := c.open("feedback/a", openCreate|openExclusive)
	c.want("make it once more", e, errnoExist)
	_, e = c.open("feedback/a", openFolder)
	c.want("open it as a folder", e, errnoNotdir)
	at, size := c.text("feedback/a")
	c.want("rename it out of the folder", c.call("path_rename", 3, at, size, 3, at+9, 1), errnoRofs)
	c.want("remove it", c.call("path_unlink_file", 3, at, size), errnoSuccess)
	c.want("remove it again", c.call("path_unlink_file", 3, at, size), errnoNoent)
}

func TestAFileInTheFeedbackFolderIsWrittenAndReadAnywhere(t *testing.T) {
	t.Parallel()
	c := newCaller(t, true)
	fd, e := c.open("feedback/score.txt", openCreate)
	c.want("make", e, errnoSuccess)
	c.want("write", c.write(fd, "abcdef"), errnoSuccess)
	c.want("go back", c.call("fd_seek", fd, ^uint64(1), 1, atResult), errnoSuccess) // two bytes
	if got := c.result(); got != 4 {
		t.Errorf("it is at %d", got)
	}
	c.want("write again", c.write(fd, "XYZ"), errnoSuccess)
	c.want("go before the beginning", c.call("fd_seek", fd, ^uint64(99), 1, atResult), errnoInval)
	c.want("go by no rule", c.call("fd_seek", fd, 0, 3, atResult), errnoInval)
	c.want("append", c.call("fd_fdstat_set_flags", fd, flagAppend), errnoSuccess)
	c.want("go to the beginning", c.call("fd_seek", fd, 0, 0, atResult), errnoSuccess)
	c.want("write at the end", c.write(fd, "!"), errnoSuccess)
	c.want("make room", c.call("fd_allocate", fd, 8, 2), errnoSuccess)
	c.want("a negative length", c.call("fd_filestat_set_size", fd, ^uint64(0)), errnoInval)
	if got, _ := c.w.Written("score.txt"); string(got) != "abcdXYZ!\x00\x00" {
		t.Errorf("it contains %q", got)
	}
	c.want("shorten", c.call("fd_filestat_set_size", fd, 3), errnoSuccess)
	c.want("look at it", c.call("fd_filestat_get", fd, atResult), errnoSuccess)
	if size, _ := c.m.ReadUint64Le(atResult + 32); size != 3 {
		t.Errorf("it has %d bytes", size)
	}
	input, _ := c.open("input", 0)
	c.want("write the input", c.write(input, "x"), errnoBadf)
	c.want("shorten the input", c.call("fd_filestat_set_size", input, 0), errnoBadf)
	c.w.Meter.Output = 4
	c.want("write more than it may", c.write(fd, "12345"), errnoIO)
	if c.w.Meter.Fault != wire.FaultOutput {
		t.Errorf("the fault is %q", c.w.Meter.Fault)
	}
}

// A folder is listed whole by any buffer that holds an entry.
func TestAFolderIsListedInPieces(t *testing.T) {
	t.Parallel()
	c := newCaller(t, true)
	for _, name := range []string{"feedback/c", "feedback/a", "feedback/bbbbbbbbbbbbbbbbbbbb"} {
		if _, e := c.open(name, openCreate); e != errnoSuccess {
			t.Fatal(e)
		}
	}
	fd, _ := c.open("feedback", 0)
	want := []string{".", "..", "a", "bbbbbbbbbbbbbbbbbbbb", "c"}
	for _, size := range []uint64{44, 60, 100, 4000} {
		var names []string
		for cookie, more := uint64(0), true; more; {
			if e := c.call("fd_readdir", fd, atBuffer, size, cookie, atResult); e != errnoSuccess {
				t.Fatal(e)
			}
			used := c.result()
			b, _ := c.m.Read(atBuffer, used)
			more = uint64(used) == size
			for len(b) >= entryBytes {
				n := int(binary.LittleEndian.Uint32(b[16:]))
				if len(b) < entryBytes+n {
					break
				}
				names = append(names, string(b[entryBytes:entryBytes+n]))
				cookie = binary.LittleEndian.Uint64(b)
				b = b[entryBytes+n:]
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("in pieces of %d bytes it lists %q", size, names)
		}
	}
}

func TestWhatAGuestGivesMustBeInItsMemory(t *testing.T) {
	t.Parallel()
	c := newCaller(t, true)
	const beyond = 1 << 20
	fd, _ := c.open("input", 0)
	list, _ := c.vector(4)
	for name, args := range map[string][]uint64{
		"args_get": {beyond, 0}, "args_sizes_get": {beyond, 0}, "environ_sizes_get": {0, beyond}, "clock_res_get": {0, beyond},
		"clock_time_get": {0, 0, beyond}, "random_get": {0, beyond}, "fd_read": {fd, list, 1, beyond}, "fd_pread": {fd, beyond, 1, 0, 0},
		"fd_write": {1, beyond, 1, 0}, "fd_seek": {fd, 0, 0, beyond}, "fd_tell": {fd, beyond}, "fd_fdstat_get": {fd, beyond},
		"fd_filestat_get": {fd, beyond}, "fd_prestat_get": {3, beyond}, "fd_prestat_dir_name": {3, beyond, 1},
		"fd_readdir": {3, beyond, 100, 0, 0}, "path_open": {3, 0, beyond, 5, 0, 2, 2, 0, 0}, "path_filestat_get": {3, 0, beyond, 5, 0},
		"path_unlink_file": {3, beyond, 1}, "poll_oneoff": {beyond, 0, 1, 0},
	} {
		c.w.Args = []string{"a"}
		c.want(name, c.call(name, args...), errnoFault)
	}
	open := len(c.w.fds)
	at, size := c.text("input")
	c.want("a result that is not", c.call("path_open", 3, 0, at, size, 0, 2, 2, 0, beyond), errnoFault)
	if c.w.at(uint64(open)) != nil {
		t.Error("the file stays open that nobody knows the number of")
	}
	c.want("too many pieces", c.call("fd_read", fd, 0, maxVectors+1, atResult), errnoInval)
	c.want("a list beyond all numbers", c.call("fd_write", 1, 8, 1<<29+1, atResult), errnoInval)
	c.want("too many timers", c.call("poll_oneoff", 0, 0, maxSubscriptions+1, atResult), errnoInval)
	c.want("a clock that is not", c.call("clock_time_get", 2, 0, atResult), errnoInval)
}

// FuzzWASI calls functions in any order with any arguments: each answers with an
// error of WASI, the host's file stays as it is and bounds hold.
func FuzzWASI(f *testing.F) {
	names := slices.Sorted(maps.Keys(Functions))
	for seed := range byte(8) {
		f.Add(bytes.Repeat([]byte{seed, 3, 17 * seed, 4, 0, 40, 1, 2, seed}, 12))
	}
	f.Add(bytes.Repeat([]byte{byte(slices.Index(names, "path_open")), 3, 0, 1, 5, 0, 2, 2, 0, 9}, 80))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newCaller(t, true)
		c.m.WriteString(0, "\x00feedback/x\x00\x01\x00\x00\x08\x00\x00\x00input")
		arguments := []uint64{0, 1, 2, 3, 4, 5, 8, 9, 10, 24, 64, 100, 1024, 4096, 65535, 65536, 1 << 31, 1<<32 - 1, 1 << 40, 1<<64 - 1}
		for len(data) > 0 {
			name := names[int(data[0])%len(names)]
			data = data[1:]
			if name == "proc_exit" {
				continue // it does not return
			}
			params, _ := valueTypes(Functions[name].Types)
			args := make([]uint64, len(params))
			for i := range args {
				if len(data) > 0 {
					args[i] = arguments[int(data[0])%len(arguments)]
					data = data[1:]
				}
				if params[i] == api.ValueTypeI32 {
					args[i] &= 1<<32 - 1
				}
			}
			if e := c.call(name, args...); e > 76 {
				t.Fatalf("%s%v: error %d", name, args, e)
			}
		}
		if len(c.w.fds) > maxDescriptors || len(c.w.nodes) > maxFeedbackFiles+1 || c.m.Size() != 1<<16 {
			t.Errorf("%d descriptors, %d files, %d bytes of memory", len(c.w.fds), len(c.w.nodes), c.m.Size())
		}
		if n := c.w.find("input"); n != nil && n.length() != unknown {
			b := make([]byte, 20)
			if k, e := n.readAt(b, 0); string(b[:k]) != "0123456789" || e != errnoSuccess {
				t.Errorf("the input is %q, %d", b[:k], e)
			}
		}
	})
}
