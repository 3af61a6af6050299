package mastertest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deepoj/host/feed/rocks/rockstest"
	"deepoj/host/feed/wal"
)

// writeDump writes what a database has, which are strings; m.mu is held.
func (m *Master) writeDump(dir, name string, at wal.Position) error {
	instances := make([]map[string]string, m.options.Instances)
	for i := range instances {
		instances[i] = map[string]string{}
	}
	for key, value := range m.dbs[name].content {
		zero := strings.Repeat("\x00", 16)
		stored := zero[:8] + strings.ReplaceAll(key, "\x00", "\x00\x01") + "\x00\x00" + zero
		times := binary.LittleEndian.AppendUint64([]byte(zero), 1700000000) // and never ends
		instances[len(key)%len(instances)][stored] = "\x00" + value + string(times) + zero[:8]
	}
	for i, strings := range instances {
		at := filepath.Join(dir, strconv.Itoa(i))
		families := []rockstest.Family{{Name: "default", Entries: strings}, {Name: "list_data_cf", Comparator: "floyd.ListsDataKeyComparator"}}
		for _, family := range []string{"hash_data_cf", "set_data_cf", "zset_data_cf", "zset_score_cf", "stream_data_cf"} {
			families = append(families, rockstest.Family{Name: family})
		}
		if err := errors.Join(os.MkdirAll(at, 0o700), rockstest.Write(at, families...)); err != nil {
			return err
		}
	}
	return WriteInfo(dir, m.port, at, m.made)
}

// WriteInfo writes what a dump says of itself. Seconds tell dumps of the same position apart.
func WriteInfo(dir string, port int, at wal.Position, seconds int) error {
	info := fmt.Sprintf("%ds\n127.0.0.1\n%d\n%d\n%d\n", seconds, port, at.Filenum, at.Offset)
	return os.WriteFile(filepath.Join(dir, "info"), []byte(info), 0o600)
}
