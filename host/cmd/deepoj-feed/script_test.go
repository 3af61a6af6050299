package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deepoj/host/feed/wal"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"deepoj-feed": main}) }

// TestTheCommandsSayWhatIsWrong runs the scripts in testdata/script.
func TestTheCommandsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"records": makeRecords, "flip": flip, "anew": anew, "master": startMaster, "do": do, "until": until,
	}})
}

// makeRecords DIR N makes a log with so many records.
func makeRecords(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	log, err := wal.Open(wal.Options{Dir: ts.MkAbs(args[0]), SegmentBytes: 4 << 10})
	ts.Check(err)
	for i := range n {
		_, err := log.Append(1, wal.Position{Filenum: 7, Offset: uint64(100 * (i + 1))}, fmt.Appendf(nil, "record %d", i))
		ts.Check(err)
	}
	ts.Check(log.Close())
}

// flip DIR I AT BIT flips a bit of the I-th file of a log; with AT below 0 it is counted from the end.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "wal-*.log"))
	ts.Check(err)
	var numbers [3]int
	for i := range numbers {
		numbers[i], err = strconv.Atoi(args[i+1])
		ts.Check(err)
	}
	data, err := os.ReadFile(files[numbers[0]])
	ts.Check(err)
	at := numbers[1]
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 1 << numbers[2]
	ts.Check(os.WriteFile(files[numbers[0]], data, 0o600))
}

// anew DIR makes the first record of a log look as if a newer version had written it.
func anew(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "wal-*.log"))
	ts.Check(err)
	data, err := os.ReadFile(files[0])
	ts.Check(err)
	data[6] = 2
	binary.LittleEndian.PutUint32(data[44:], crc32.Checksum(data[:44], crc32.MakeTable(crc32.Castagnoli)))
	ts.Check(os.WriteFile(files[0], data, 0o600))
}
