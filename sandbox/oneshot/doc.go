// Package oneshot is what a human's root command runs: the agent, the one-shot command `deepoj judge`, and the keeper
// that starts both for clients without privilege, which talk to it by way of package sandbox.
//
//	cli_linux.go        the one-shot command, whose Go runtime must not be in the way
//	flags_linux.go      its command line
//	files_linux.go      the files that it names
//	process_linux.go    the agent, and the agent as a child
//	rootless_linux.go   both, for an ordinary user
//	keeper_linux.go     the keeper
//	replace_linux.go    how it replaces an agent
//	arguments_linux.go  how it starts a one-shot run
//	oneshot_other.go    all of it, where there is no sandbox
package oneshot
