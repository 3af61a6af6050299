// Package embedded runs a private PostgreSQL and a private Redis as children of
// this process, for `deepoj up` and for tests.
//
// Both listen on a unix socket and on nothing else, in a folder that only their account may enter. When this process is
// root they run as an unprivileged account. They end with this process, also when it is killed with SIGKILL: the kernel
// tells them (PDEATHSIG, from a thread that lives as long as they do), and a later start finds and ends whatever was
// left over before it begins. A folder belongs to one process at a time.
//
// The package speaks no SQL beyond making the database and its roles, and no Redis protocol beyond asking whether it is
// ready; it promises a running server and an address, at which the program owns its database and may do nothing else.
//
// Its files:
//
//	find.go      finds the programs
//	account.go   the account that they run as
//	folder.go    the folder that they keep things in
//	child.go     one process
//	service.go   starts one again that died, and ends one that was left over
//	cluster.go   makes a cluster
//	roles.go     who may do what in it
//	feed.go      what a change feed needs of it
//	postgres.go  runs PostgreSQL
//	redis.go     runs Redis
package embedded
