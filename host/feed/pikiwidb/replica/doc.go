// Package replica is the PikiwiDB source of the change feed: to a master it is a replica, to the feed a stream of changes
// with a snapshot before them.
//
// # A session
//
// A session has one connection to the replication port of the master. MetaSync says who is there, and the master says
// which data it has (its replication_id) and which databases. TrySync asks for the binlog from the position that the
// feed has. If the master has purged that part, if its replication_id is another one, or if the feed has no position
// yet, DBSync makes the master dump; the dump is copied over a second connection, and TrySync asks for the binlog from
// where the dump was made. While the dump is read the binlog comes already.
//
// A master forgets a replica that it has not heard for 20 seconds, and may then purge what the replica needs next.
// So each session sends a sign of life every few seconds from its first position to its end, whatever else waits: while
// a dump is copied and exported, and while the log has no room.
//
// Each message of items is acknowledged once, when all of it is durable, with the positions of its first and its last
// item just as the master sent them: a master closes the connection on any other range. A position is where the next
// item begins; the event_id has where the item itself begins.
//
// A replica is known to its master by address and port. The feed announces those of its own end of the connection, so
// that the databases of one feed, and a feed that comes back before the master has noticed that it was gone, are
// different replicas to it. If the master nevertheless answers that the replica exists, the session fails, and the next
// one has another port.
//
// # What begins with a snapshot
//
// A feed with neither a checkpoint nor a start position begins with a snapshot, though the master may still have its
// binlog from the first file on: a master whose data was brought in otherwise, such as by a dump of another one, has no
// items for it. A position beyond the master's binlog, or at which no item begins, ends the feed with an error: other
// data has taken the place of that which consumers have, and who operates the feed decides.
//
// # The types of commands
//
// The key of a record in Kafka is db:data_type:key. The data type of a change is that of its command: items of the
// binlog do not say more. DEL, EXPIREAT, PERSIST, RENAME and the like work on keys of any type, and their data type is
// "generic". So SET k v and DEL k have the Kafka keys db0:string:k and db0:generic:k, and may lie in different
// partitions. They leave in the order of the binlog, but who reads partitions independently may read the DEL first.
// This is what the contract of events says, and is kept: the type of a key cannot be known without reading the master,
// which may have changed it meanwhile. Whoever needs the order across types takes a topic with one partition, or orders
// by binlog.filenum and binlog.offset, which each event has.
//
//	source.go  the source, and events of the binlog
//	open.go    how a session comes about, and where it begins
//	conn.go    a connection: frames, bounds on waiting
//	session.go receiving, and signs of life
//	ack.go     acknowledgements
//	fetch.go   the copy of a dump
//	export.go  events of a snapshot
package replica
