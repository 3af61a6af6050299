// Package sdk is what a language adapter written in Go imports.
//
// An adapter is a WASI command: [Main] reads the operation from the command line, the request from standard input as
// JSON, and answers on standard output. It describes how to compile and run a program; it never does so itself, opens
// no files and needs no network.
//
// A guest of Go with reflection and what stands on it (fmt, os, encoding/json, regexp) is twice as large, and takes
// twice as long to compile on every machine. So this package does without; what an adapter imports is its own affair.
//
// Its files:
//
//	sdk.go         an adapter and its operations
//	layout.go      names of files
//	toolchains.go  tool chains that several languages share
//	lines.go       what compilers say: numbers and places
//	message.go     the contract's requests and answers
//	reader.go      JSON in
//	writer.go      JSON out
//
// Arguments, standard streams and the end of the process are, of a guest and elsewhere:
//
//	process_wasip1.go  those of WASI
//	process_other.go   those of the operating system
package sdk

import (
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// Adapter is one language.
type Adapter struct {
	// Manifest describes the adapter. Judge, Kind and Protocol are filled in.
	Manifest abi.Manifest

	// Plan says how to compile and run the sources of a request. A [*SourceError] is the contestant's mistake and
	// becomes the plan's error; any other error is the adapter's and ends it.
	Plan func(abi.PlanRequest) (abi.Plan, error)

	// Diagnostics reads a compiler's words. It is asked only for plans whose
	// diagnostics format is "plugin", and may be nil without such plans.
	Diagnostics func(abi.DiagnosticsRequest) []abi.Diagnostic
}

// SourceError is a source that cannot be planned for: a compile error found before the compiler is asked.
type SourceError struct {
	Source  int    // index of the source
	Line    int    // from 1; 0 when no line is to blame
	Message string // for the contestant
}

func (r *SourceError) Error() string { return r.Message }

// Main serves one operation and ends the process: with status 0 and the answer
// on standard output, or with status 1 and the reason on standard error.
//
// Several adapters may be one program, which each machine compiles once. It is the one that it is called as, see
// [Called], and so each module needs its manifest as a section.
func Main(adapters ...Adapter) {
	args, err := arguments()
	if err == nil {
		err = serve(adapters, args)
	}
	if err != nil {
		_, _ = io.WriteString(stderr, err.Error()+"\n") // there is no other way to say it
		exit(1)
	}
}

func serve(adapters []Adapter, args []string) error {
	if len(args) == 0 {
		return errors.New("the program is called without its name")
	}
	a, err := Called(args[0], adapters...)
	if err != nil {
		return err
	}
	return a.Run(args[1:], stdin, stdout)
}

// Called returns the adapter that a program's name means: the only one there is, or that of the manifest's name, as
// judges say it, or of the language's id, as a file may be called that somebody tries: "deepoj.c", "out/c.wasm".
func Called(name string, adapters ...Adapter) (Adapter, error) {
	if len(adapters) == 1 {
		return adapters[0], nil
	}
	id := strings.TrimSuffix(path.Base(name), ".wasm")
	for _, a := range adapters {
		if a.Manifest.Name == name || a.Manifest.Language != nil && a.Manifest.Language.ID == id {
			return a, nil
		}
	}
	return Adapter{}, errors.New("no adapter here is called " + strconv.Quote(name))
}

// Run serves the operation that args names.
func (a Adapter) Run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: adapter describe | plan | diagnostics")
	}
	switch args[0] {
	case abi.OpDescribe, "--describe":
		return write(out, a.Describe(), (*writer).manifest)
	case abi.OpPlan:
		q, err := read(in, (*reader).planRequest)
		if err != nil {
			return err
		}
		return a.plan(q, out)
	case abi.OpDiagnostics:
		q, err := read(in, (*reader).diagnosticsRequest)
		if err != nil {
			return err
		}
		if a.Diagnostics == nil {
			return errors.New("this adapter does not read diagnostics")
		}
		found := append([]abi.Diagnostic{}, a.Diagnostics(q)...) // never null
		return write(out, abi.DiagnosticsReply{Judge: abi.Version, Diagnostics: found}, (*writer).diagnosticsReply)
	}
	return errors.New("unknown operation " + strconv.Quote(args[0]))
}

// Describe returns the complete manifest.
func (a Adapter) Describe() abi.Manifest {
	m := a.Manifest
	m.Judge, m.Kind, m.Protocol = abi.Version, abi.Toolchain, abi.Plan1
	if a.Diagnostics != nil {
		m.Needs = []string{"diagnostics"}
	}
	return m
}

// plan answers a request for a plan.
func (a Adapter) plan(q abi.PlanRequest, out io.Writer) error {
	if q.Judge != abi.Version {
		return errors.New("the request speaks version " + strconv.Itoa(q.Judge) + " of the contract, this adapter " + strconv.Itoa(abi.Version))
	}
	if len(q.Sources) == 0 {
		return errors.New("the request holds no source")
	}
	p, err := a.Plan(q)
	if refusal, ok := errors.AsType[*SourceError](err); ok {
		p = abi.Plan{Error: &abi.SourceError{Message: refusal.Message, Source: refusal.Source, Line: refusal.Line}}
	} else if err != nil {
		return &failure{"plan", err}
	}
	p.Judge = abi.Version
	return write(out, p, (*writer).plan)
}

// failure is an error with what was done at the time.
type failure struct {
	doing string
	err   error
}

func (f *failure) Error() string { return f.doing + ": " + f.err.Error() }

func (f *failure) Unwrap() error { return f.err }
