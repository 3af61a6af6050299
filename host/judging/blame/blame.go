// Package blame says whose fault it is that something cannot be judged: the package's,
// this machine's, or that of the files that were handed in.
package blame

import (
	"errors"
	"fmt"

	"deepoj/sandbox"
)

// PackageError is a failure of the package, of its checker above all: a judging
// error, never the contestant's and not ours.
type PackageError struct{ err error }

func (e *PackageError) Error() string { return e.err.Error() }

func (e *PackageError) Unwrap() error { return e.err }

// Package makes err the fault of a package.
func Package(err error) error { return &PackageError{err} }

// Packagef makes an error that is the fault of a package.
func Packagef(format string, args ...any) error {
	return &PackageError{fmt.Errorf(format, args...)}
}

// AtFault reports whether an error is the fault of a package: a program of its
// own does not compile, or does something that it must not.
func AtFault(err error) bool {
	_, fault := errors.AsType[*PackageError](err)
	return fault
}

// UnavailableError says that this machine cannot judge a language, or lacks a tool that a package needs.
type UnavailableError struct {
	What   string // such as "the language rust"
	Reason string // such as "rustc is not installed"
	Remedy string // such as "apt-get install rustc"
	Agent  bool   // it is the sandbox's agent, without which nothing runs
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%s is not available: %s; %s", e.What, e.Reason, e.Remedy)
}

// NotHere says that another machine may be able to.
func (e *UnavailableError) NotHere() bool { return true }

// Fits makes what the sandbox says of unfit files and programs the result of a run,
// an SE whose Unfit is set. Other errors stay.
func Fits(ran sandbox.Result, err error) (sandbox.Result, error) {
	if bad, ok := errors.AsType[*sandbox.UnfitError](err); ok {
		return sandbox.Result{Verdict: sandbox.SE, Error: bad.Reason, Unfit: true}, nil
	}
	return ran, err
}

// Theirs makes what the sandbox says of unfit files and programs of the judges a fault of the package.
func Theirs(name string, ran sandbox.Result, err error) error {
	ran, err = Fits(ran, err)
	if err == nil && ran.Verdict == sandbox.SE && ran.Unfit {
		return Packagef("%s cannot be run: %s", name, ran.Error)
	}
	return err
}
