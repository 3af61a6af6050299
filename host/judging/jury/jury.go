// Package jury runs what the judges of a problem wrote: checkers, interactors, graders,
// validators, generators and solutions, as plugins or as programs in a box.
//
//	jury.go     the jury
//	checker.go  loads checkers and interactors, and asks checkers
//	instead.go  those that are programs, and why
//	native.go   checkers, interactors and static validators that run as programs
//	program.go  other programs of a package
//	script.go   programs of a package that are scripts
//	workdir.go  programs that read and write files of their folder
package jury

import (
	"sync"

	"deepoj/host/judging/build"
)

// Jury runs what the judges of problems wrote. It may be used by several goroutines.
type Jury struct {
	*build.Builder

	cfg build.Config

	mu      sync.Mutex
	digests map[string]string // of modules, by what they are made of
}

// New returns a Jury that compiles with b, and has its configuration.
func New(cfg build.Config, b *build.Builder) *Jury {
	return &Jury{Builder: b, cfg: cfg, digests: map[string]string{}}
}
