package pikiwidb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed/rocks"
	"deepoj/host/feed/rocks/rockstest"
)

// stored is a key as a master stores it.
type stored struct {
	kind     Type
	key      string
	version  uint64
	expires  uint64      // as it is stored
	elements [][2]string // name and value; of a string its value
	count    int         // what it says, when that is not how many elements there are
	lost     string      // what the master overwrote behind the key's last NUL
}

var little = binary.LittleEndian

func number(n uint64) string { return string(little.AppendUint64(nil, n)) }

func zero(n int) string { return string(make([]byte, n)) }

// column is a column family to be.
type column map[string]string

// dump is the content of an instance by column family.
type dump map[string]column

func newDump() dump {
	d := dump{"default": {}, "zset_score_cf": {}}
	for _, family := range families[Hash:] {
		d[family] = column{}
	}
	return d
}

func (d dump) add(s stored) {
	head := zero(8) + strings.ReplaceAll(s.key, "\x00", "\x00\x01") + "\x00\x00"
	times := zero(16) + number(1700000000) + number(s.expires)
	count := uint64(len(s.elements))
	if s.count != 0 {
		count = uint64(max(0, s.count))
	}
	value := string([]byte{byte(s.kind)})
	switch s.kind {
	case String:
		value += s.elements[0][1] + times
	case List:
		value += number(count) + number(s.version) + zero(8) + "garbage!" + zero(8) + "garbage?" + times
	case Stream:
		value += zero(4+8+48) + number(count)[:4] + number(s.version)
	case Hash, Set, ZSet:
		value += number(count)[:4] + number(s.version) + times
	}
	d["default"][head+zero(16)+s.lost] = value
	if s.kind == String {
		return
	}
	for i, e := range s.elements {
		name, value := e[0], e[1]
		switch s.kind {
		case String, Hash, Set:
		case List:
			name = number(1<<63 + uint64(i))
		case ZSet:
			score, _ := strconv.ParseFloat(value, 64)
			value = number(math.Float64bits(score))
		case Stream:
			ms, seq, _ := strings.Cut(name, "-")
			m, _ := strconv.ParseUint(ms, 10, 64)
			n, _ := strconv.ParseUint(seq, 10, 64)
			name = string(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, m), n))
			fields := ""
			for field := range strings.SplitSeq(value, " ") {
				fields += number(uint64(len(field)))[:4] + field
			}
			value = fields
		}
		if s.kind != Stream {
			value += zero(16) + number(1700000000)
		}
		d[families[s.kind]][head+number(s.version)+name+zero(16)] = value
	}
}

// left is how many ms the key lives on, and whether it does.
func (s stored) left(now time.Time) (ms int64, lives bool) {
	switch at := int64(s.expires &^ (1 << 63)); {
	case s.kind == Stream, s.expires == 0:
		return 0, true
	case s.expires>>63 == 1:
		ms = at - now.UnixMilli()
	default:
		ms = at*1000 - now.UnixMilli()
	}
	return ms, ms > 0
}

// want is the key as a command, and as its time to live, by the names that commands gives them.
func (s stored) want(all map[string]string, now time.Time, tail int) {
	left, lives := s.left(now)
	if !lives || s.count < 0 || s.lost != "" || strings.HasPrefix(s.key, "_internal:slotkey:4migrate:") {
		return
	}
	ttl := strconv.FormatInt((left+999)/1000, 10)
	name := s.key + " " + s.kind.String()
	if s.kind == String {
		all["SET "+name] = fmt.Sprintf("SET %s %q", name, s.elements[0][1])
		if left > 0 {
			all["SET "+name] += fmt.Sprintf(" %q %q", "EX", ttl)
		}
		return
	}
	elements := slices.Clone(s.elements)
	switch s.kind {
	case List:
		if tail > 0 && len(elements) > tail {
			elements = elements[len(elements)-tail:]
		}
	case String, Stream:
	case Hash, Set, ZSet:
		slices.SortFunc(elements, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	}
	command := map[Type]string{Hash: "HMSET", Set: "SADD", List: "RPUSH", ZSet: "ZADD", Stream: "XADD"}[s.kind] + " " + name
	all[command] = ""
	for i, e := range elements {
		if i == 0 || s.kind == Stream {
			all[command] += command
		}
		switch s.kind {
		case String:
		case Hash:
			all[command] += fmt.Sprintf(" %q %q", e[0], e[1])
		case Set:
			all[command] += fmt.Sprintf(" %q", e[0])
		case List:
			all[command] += fmt.Sprintf(" %q", e[1])
		case ZSet:
			all[command] += fmt.Sprintf(" %q %q", e[1], e[0])
		case Stream:
			all[command] += fmt.Sprintf(" %q", e[0])
			for field := range strings.SplitSeq(e[1], " ") {
				all[command] += fmt.Sprintf(" %q", field)
			}
		}
	}
	if left > 0 {
		all["EXPIRE "+name] = fmt.Sprintf("EXPIRE %s %q", name, ttl)
	}
}

// write writes instances as a dump.
func write(tb testing.TB, instances ...dump) string {
	tb.Helper()
	dir := tb.TempDir()
	for i, columns := range instances {
		var made []rockstest.Family
		for _, name := range slices.Sorted(maps.Keys(columns)) {
			f := rockstest.Family{Name: name, Entries: columns[name]}
			if name == "list_data_cf" {
				f.Comparator, f.Order = "floyd.ListsDataKeyComparator", compareListKeys
			}
			made = append(made, f)
		}
		at := filepath.Join(dir, strconv.Itoa(i))
		if err := errors.Join(os.Mkdir(at, 0o700), rockstest.Write(at, made...)); err != nil {
			tb.Fatal(err)
		}
	}
	put(tb, filepath.Join(dir, "info"), "3s\n10.0.0.7\n9221\n267\n45044585\n")
	return dir
}

func put(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func in(d time.Duration) uint64 { return uint64(atDump().Add(d).Unix()) }

func inMilliseconds(d time.Duration) uint64 { return 1<<63 | uint64(atDump().Add(d).UnixMilli()) }

var library = []stored{
	{kind: String, key: "plain", elements: [][2]string{{"", "value"}}},
	{kind: String, key: "", elements: [][2]string{{"", ""}}},
	{kind: String, key: "seconds", expires: in(90 * time.Second), elements: [][2]string{{"", "v"}}},
	{kind: String, key: "ms", expires: inMilliseconds(1500 * time.Millisecond), elements: [][2]string{{"", "v"}}},
	{kind: String, key: "now", expires: in(0) - 1, elements: [][2]string{{"", "gone"}}},
	{kind: String, key: "nul\x00", elements: [][2]string{{"", "a key that ends in NUL is written right"}}},
	{kind: String, key: "nul\x00", lost: "tail", elements: [][2]string{{"", "another, written wrong"}}},
	{kind: Hash, key: "old", version: 9, expires: in(-time.Hour), elements: [][2]string{{"f", "gone"}}},
	{kind: Hash, key: "h", version: 8, elements: [][2]string{{"", "empty field"}, {"a\x00b", "\x00\x00"}, {"z", ""}}},
	{kind: Hash, key: "hash with a time", version: 8, expires: inMilliseconds(time.Hour), elements: [][2]string{{"f", "v"}}},
	{kind: Set, key: "s", version: 7, elements: [][2]string{{"a", ""}, {"b\xff", ""}, {"c", ""}, {"d", ""}, {"e", ""}}},
	{kind: Set, key: "_internal:slotkey:4migrate:7", version: 7, elements: [][2]string{{"a", ""}}},
	{kind: Set, key: "emptied", version: 7, count: -1, elements: [][2]string{{"a", ""}}},
	{kind: List, key: "l", version: 3, elements: [][2]string{{"", "e0"}, {"", "e1"}, {"", "e2"}, {"", "e3"}, {"", "e4"}, {"", "e5"}, {"", "e6"}, {"", "e7"}, {"", "e8"}}},
	{kind: List, key: "l\x00", version: 3, elements: [][2]string{{"", "x"}}},
	{kind: List, key: "l\x00", version: 4, lost: "!", elements: [][2]string{{"", "x"}}},
	{kind: ZSet, key: "z", version: 4, elements: [][2]string{
		{"a", "-inf"}, {"b", "inf"}, {"c", "0.1"}, {"d", "1e+300"}, {"e", "12345678901"}, {"f", "-0.5"}, {"g", "3.141592653589793"},
	}},
	{kind: Stream, key: "x", version: 2, elements: [][2]string{{"1-0", "f v"}, {"1-1", "f v g w"}, {"18446744073709551615-18446744073709551615", " "}}},
}

// shelf writes the library on two instances, with elements of keys that are gone.
func shelf(tb testing.TB) string {
	tb.Helper()
	d := newDump()
	for _, s := range library {
		for _, before := range []uint64{1, 100} { // a key of that name was deleted, and one comes later
			if s.kind != String && s.lost == "" {
				dead := s
				dead.version += before
				dead.elements = slices.Concat(s.elements, [][2]string{{"9999-9", "dead dead"}})
				d.add(dead)
			}
		}
		d.add(s)
	}
	gone := newDump()
	for t := Hash; t < types; t++ {
		for _, key := range []string{"a", "l", "zz"} {
			gone.add(stored{kind: t, key: key, version: 5, elements: [][2]string{{"1-1", "1"}}})
		}
	}
	maps.Copy(d["list_data_cf"], gone["list_data_cf"])
	for _, family := range families[Hash:] {
		for key, value := range gone[family] {
			if d[family][key] == "" {
				d[family][key] = value
			}
		}
	}
	return write(tb, newDump(), d)
}

// Every kind of key that a master stores becomes its commands, in both modes, whatever the batch, and no key that
// is not there does.
func TestEveryKindOfKeyBecomesItsCommands(t *testing.T) {
	dir := shelf(t)
	for _, mode := range []Mode{Single, ByType} {
		for _, batch := range []int{1, 2, 3, 100} {
			for _, tail := range []int{0, 1, 4, 9, 10} {
				want := map[string]string{}
				for _, s := range library {
					s.want(want, atDump(), tail)
				}
				options := all(mode)
				var damages []string
				options.BatchNum, options.ListTail = batch, tail
				options.Damaged = func(d Damage) { damages = append(damages, fmt.Sprintf("%d %s %q", d.Instance, d.Type, d.Key)) }
				records := read(t, dir, options)
				sameCommands(t, commands(t, records), want)
				slices.Sort(damages)
				if got := strings.Join(damages, ", "); got != `1 list "l\x00", 1 string "nul\x00"` {
					t.Errorf("damaged are %s", got)
				}
				for _, r := range records {
					per := map[Type]int{Hash: 2, ZSet: 2}[r.Type]
					if r.Type != Stream && r.Type != String && len(r.Argv)-2 > batch*max(per, 1) {
						t.Errorf("a batch of %d holds %q", batch, r.Argv)
					}
				}
				if got := options.Progress.Expired.Load(); got != 2 {
					t.Errorf("%d keys have expired", got)
				}
			}
		}
	}
}

// Types and prefixes leave out what is not asked for, and nothing else.
func TestOnlyTypesAndPrefixesAskedForAreRead(t *testing.T) {
	root, dir := unpack(t), shelf(t)
	for _, c := range []struct {
		dir, types string
		prefixes   []string
	}{
		{dir, "list", nil},
		{dir, "string, zset", nil},
		{dir, "string,list,hash,set,zset,stream", []string{"l", "z"}},
		{dir, "string,list", []string{"nul\x00", "l\x00"}},
		{dir, "hash,set", []string{"h", "hash", "h", ""}},
		{filepath.Join(root, "lz4"), "set,list", []string{"l:1", "s:", "l:12", "\xff"}},
		{filepath.Join(root, "part"), "zset,hash", []string{"z:39", "h:"}},
		{filepath.Join(root, "snappy"), "zset,list", []string{"none"}},
		{filepath.Join(root, "snappy"), "zset,list", []string{}},
	} {
		set, err := ParseTypes(c.types)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]Record{}
		for _, r := range read(t, c.dir, all(Single)) {
			begins := func(p string) bool { return strings.HasPrefix(string(r.Key), p) }
			if set.Has(r.Type) && (c.prefixes == nil || slices.ContainsFunc(c.prefixes, begins)) {
				want[string(r.Key)] = append(want[string(r.Key)], r)
			}
		}
		for _, mode := range []Mode{Single, ByType} {
			options := all(mode)
			options.Types, options.Prefixes = set, c.prefixes
			got := map[string][]Record{}
			for _, r := range read(t, c.dir, options) {
				got[string(r.Key)] = append(got[string(r.Key)], r)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s %q of %s: %d keys, and %d should be", c.types, c.prefixes, filepath.Base(c.dir), len(got), len(want))
			}
		}
	}
}

// Large elements end a batch before its number does, and what yield keeps stays as it was.
func TestBatchesAreBoundedInBytes(t *testing.T) {
	d := newDump()
	s := stored{kind: Hash, key: "h", version: 1}
	for i := range 40 {
		s.elements = append(s.elements, [2]string{fmt.Sprintf("f%03d", i), strings.Repeat(string(rune('a'+i%26)), 100<<10)})
	}
	d.add(s)
	dir := write(t, d)
	options := all(Single)
	options.BatchNum = 1000
	records, largest := read(t, dir, options), 0
	for _, r := range records {
		size := 0
		for _, arg := range r.Argv {
			size += len(arg)
		}
		largest = max(largest, size)
	}
	if len(records) < 6 || largest > batchBytes+101<<10 {
		t.Errorf("%d records, the largest of %d bytes", len(records), largest)
	}
	want := map[string]string{}
	s.want(want, atDump(), 0)
	sameCommands(t, commands(t, records), want)
}

// Memory stays flat however many keys there are.
func TestMemoryStaysFlat(t *testing.T) {
	const keys = 100_000
	dir := func() string {
		d := newDump()
		for i := range keys {
			d.add(stored{kind: String, key: fmt.Sprintf("key %d", i), elements: [][2]string{{"", strings.Repeat("v", 300)}}})
		}
		return write(t, d)
	}()
	d, err := Open(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most, n := heap(), uint64(0), 0
	err = d.Read(t.Context(), all(Single), func(Record) error {
		if n++; n%25_000 == 0 {
			most = max(most, heap())
		}
		return nil
	})
	if err != nil || n != keys || most > before+4<<20 {
		t.Errorf("%d records, %v; the heap grew from %d bytes to %d", n, err, before, most)
	}
}

// A count that is not how many elements there are is reported.
func TestACountThatIsWrongIsReported(t *testing.T) {
	d := newDump()
	d.add(stored{kind: Set, key: "s", version: 1, count: 3, elements: [][2]string{{"a", ""}, {"b", ""}}})
	d.add(stored{kind: Hash, key: "none", version: 1, expires: in(time.Hour), count: 1})
	for _, mode := range []Mode{Single, ByType} {
		options, reasons := all(mode), []string{}
		options.Damaged = func(d Damage) { reasons = append(reasons, fmt.Sprintf("%s %s", d.Key, d.Reason)) }
		got := commands(t, read(t, write(t, d), options))
		slices.Sort(reasons)
		if fmt.Sprint(reasons) != "[none it counts 1 elements, and 0 are there s it counts 3 elements, and 2 are there]" {
			t.Errorf("reported are %q", reasons)
		}
		sameCommands(t, got, map[string]string{"SADD s set": `SADD s set "a" "b"`})
	}
}

// What yield refuses, and a context that ends, end the reading with that error in both modes, and its goroutines.
func TestReadingEndsAtTheFirstError(t *testing.T) {
	d, err := Open(filepath.Join(unpack(t), "lz4"), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before := runtime.NumGoroutine()
	refused := errors.New("refused")
	for _, mode := range []Mode{Single, ByType} {
		for _, after := range []int{0, 1, 500} {
			n := 0
			err := d.Read(t.Context(), all(mode), func(Record) error {
				if n++; n > after {
					return refused
				}
				return nil
			})
			if !errors.Is(err, refused) || n != after+1 {
				t.Errorf("%s: %v after %d records, %d asked for", mode, err, n, after)
			}
			ctx, cancel := context.WithCancel(t.Context())
			n = 0
			err = d.Read(ctx, all(mode), func(Record) error {
				if n++; n > after {
					cancel()
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) || n > after+1000 {
				t.Errorf("%s: %v after %d records, canceled after %d", mode, err, n, after)
			}
			cancel()
		}
	}
	if now := runtime.NumGoroutine(); now > before {
		t.Errorf("%d goroutines, and %d before", now, before)
	}
	if err := d.Read(t.Context(), all("both"), nil); err == nil || !strings.Contains(err.Error(), `"both"`) {
		t.Errorf("an unknown mode: %v", err)
	}
	if _, err := ParseTypes("string,bitmap"); err == nil || !strings.Contains(err.Error(), `"bitmap" is no data type: name some of string, hash`) {
		t.Errorf("an unknown type: %v", err)
	}
}

// random is a dump of keys whose every part is drawn.
func random(seed uint64) (keys []stored) {
	r := rand.New(rand.NewPCG(seed, 1))
	text := func() string {
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = "\x00\x01a\xff "[r.IntN(4)]
		}
		return string(b)
	}
	taken := map[string]bool{}
	for range r.IntN(30) {
		s := stored{kind: Type(r.IntN(int(types))), key: text(), version: 1 + r.Uint64N(1<<20)}
		if i := strings.LastIndexByte(s.key, 0); i >= 0 && i < len(s.key)-1 { // the master writes no such key right
			s.lost = strings.Repeat("?", len(s.key)-i-1)
			s.key = s.key[:i+1]
		}
		if taken[s.key+"/"+s.lost] {
			continue
		}
		taken[s.key+"/"+s.lost] = true
		switch r.IntN(5) {
		case 0:
			s.expires = in(time.Duration(r.IntN(2000)-1000)*time.Second + 500*time.Millisecond)
		case 1:
			s.expires = inMilliseconds(time.Duration(1+r.IntN(2_000_000)-1_000_000) * time.Millisecond)
		}
		elements := map[string]string{}
		for range 1 + r.IntN(12) {
			switch s.kind {
			case Set:
				elements[text()] = ""
			case String, Hash, List:
				elements[text()] = text()
			case ZSet:
				elements[text()] = strconv.Itoa(r.IntN(1000) - 500)
			case Stream:
				elements[fmt.Sprintf("%d-%d", r.IntN(9), r.IntN(9))] = "f " + strings.ReplaceAll(text(), " ", "x")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(elements)) {
			s.elements = append(s.elements, [2]string{name, elements[name]})
		}
		keys = append(keys, s)
	}
	return keys
}

// Any dump is read as what was stored, in both modes.
func FuzzDump(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed), uint8(seed/3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, batch, tail uint8) {
		d, want, lost := newDump(), map[string]string{}, int64(0)
		for _, s := range random(seed) {
			d.add(s)
			s.want(want, atDump(), int(tail))
			if _, lives := s.left(atDump()); lives && s.lost != "" {
				lost++
			}
		}
		dir := write(t, d)
		for _, mode := range []Mode{Single, ByType} {
			options := all(mode)
			options.BatchNum, options.ListTail = int(batch), int(tail)
			sameCommands(t, commands(t, read(t, dir, options)), want)
			if got := options.Progress.Damaged.Load(); got != lost {
				t.Errorf("%d keys are reported, and %d should be", got, lost)
			}
		}
	})
}

// Whatever is stored is read or refused.
func FuzzStored(f *testing.F) {
	d := newDump()
	for _, s := range library {
		d.add(s)
	}
	for family := range d {
		for key, value := range d[family] {
			f.Add(family, []byte(key), []byte(value), []byte(key), []byte(value))
		}
	}
	f.Fuzz(func(t *testing.T, family string, key, value, row, content []byte) {
		d := newDump()
		d["default"][string(key)] = string(value)
		if d[family] == nil {
			family = "hash_data_cf"
		}
		d[family][string(row)] = string(content)
		dir := write(t, d)
		if _, err := tryRead(t.Context(), dir, all(Single)); err != nil && !errors.Is(err, rocks.ErrDamaged) && !errors.Is(err, rocks.ErrUnsupported) {
			t.Fatal(err)
		}
	})
}
