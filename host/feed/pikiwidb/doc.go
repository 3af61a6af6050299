// Package pikiwidb reads what a PikiwiDB (Pika) master hands to its replicas.
//
// A dump is what a full synchronization brings: the file info, and for each instance of the database a RocksDB
// checkpoint in a folder 0, 1, … Open reads the layout of 4.x; the five databases of 3.5 are refused. Info holds
// seconds, host, port, file number and offset in a line each. The offset is exact: the master dumps under the lock
// under which it writes. The dump may be older than its request: a master hands one out again while its binlog is
// still there.
//
// A key's bytes are escaped, 00 as 00 01, and ended by 00 00:
//
//	key and string  8 zero · key · 16 reserve
//	element         8 zero · key · version u64 · field, member, index u64 or entry's ms and seq · 16 reserve
//	string          0 · value · 16 reserve · ctime u64 · etime u64
//	hash, set, zset type · count u32 · version u64 · 16 reserve · ctime · etime
//	list            3 · count u64 · version u64 · left 16 · right 16 · 16 reserve · ctime · etime
//	stream          5 · groups u32 · added u64 · first, last and greatest deleted id, 16 each · length i32 · version u64
//	element's value value · 16 reserve · ctime; of a zset its score; of a stream only (length u32 · bytes)…
//
// Numbers are little-endian, an entry's ms and seq big-endian. Times are milliseconds with the highest bit set and
// seconds without it; 0 is none. An element whose version is not its key's belongs to a key deleted before.
// A HyperLogLog is a string.
//
// Masters of 4.0.1 write keys that hold a NUL byte wrong: what follows the key's last NUL is overwritten, and as many
// bytes of garbage stand at the end. Such keys are reported as damaged and not guessed; the binlog has them right.
//
//	dump.go      the folder
//	layout.go    keys and values
//	snapshot.go  which keys, in which order
//	scan.go      one instance: keys joined with their elements
//	record.go    commands that make a key
package pikiwidb
