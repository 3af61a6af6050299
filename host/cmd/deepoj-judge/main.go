// Command deepoj-judge is `deepoj judge` as a program of its own: it runs one command in the sandbox and prints one
// line of Judge protocol v1. A worker starts it for every run while there is no sandbox agent. Where all of Deep-OJ
// takes several milliseconds to begin, it takes one.
package main

import (
	"context"
	"os"

	"deepoj/sandbox/oneshot"
)

func main() {
	os.Exit(oneshot.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
