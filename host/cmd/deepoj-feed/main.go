// Command deepoj-feed is `deepoj feed` as a program of its own: it brings what a source tells into Kafka.
//
//	main.go      the program
//	settings.go  what it is told to do
//	run.go       feeds that run
//	sinks.go     where their events go, as far as the settings do not say it
//	serve.go     metrics and status by HTTP
//	status.go    how far they are
//	verify.go    the write-ahead log, byte by byte
//	reset.go     a new beginning
//	sources.go   where they come from, and what lets a feed in there
//	demo.go      a Deep-OJ and a feed for whoever wants to look
//	broker.go    the Kafka of that
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"deepoj/host/command"
	"deepoj/host/feed/verbs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := program().Run(ctx, &command.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.LookupEnv}, words(os.Args[1:]))
	stop()
	os.Exit(status)
}

// words are the arguments as deepoj would have them, whose table this is: help comes before the group.
func words(args []string) []string {
	if len(args) > 0 && args[0] == "help" {
		return append([]string{"help", verbs.Group}, args[1:]...)
	}
	return append([]string{verbs.Group}, args...)
}

// program is deepoj with the commands of the feed.
func program() *command.Program {
	return &command.Program{Name: "deepoj", Verbs: verbs.Table(verbs.Commands{Run: run, Status: status, VerifyWAL: verifyWAL, Reset: reset})}
}
