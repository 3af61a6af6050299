// Package sdk is what a language adapter written in Go imports.
//
// An adapter is a WASI command: [Main] reads the operation from the command line, the request from standard input as
// JSON, and answers on standard output. It describes how to compile and run a program; it never does so itself, opens
// no files and needs no network.
package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

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
func Main(a Adapter) {
	if err := a.Run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // it stands for the adapter's main function
	}
}

// Run serves the operation that args names.
func (a Adapter) Run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: adapter describe | plan | diagnostics")
	}
	switch args[0] {
	case abi.OpDescribe, "--describe":
		return json.NewEncoder(out).Encode(a.Describe())
	case abi.OpPlan:
		var q abi.PlanRequest
		if err := read(in, &q); err != nil {
			return err
		}
		return a.plan(q, out)
	case abi.OpDiagnostics:
		var q abi.DiagnosticsRequest
		if err := read(in, &q); err != nil {
			return err
		}
		if a.Diagnostics == nil {
			return errors.New("this adapter does not read diagnostics")
		}
		found := append([]abi.Diagnostic{}, a.Diagnostics(q)...) // never null
		return json.NewEncoder(out).Encode(abi.DiagnosticsReply{Judge: abi.Version, Diagnostics: found})
	}
	return fmt.Errorf("unknown operation %q", args[0])
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
		return fmt.Errorf("the request speaks version %d of the contract, this adapter %d", q.Judge, abi.Version)
	}
	if len(q.Sources) == 0 {
		return errors.New("the request holds no source")
	}
	p, err := a.Plan(q)
	if refusal, ok := errors.AsType[*SourceError](err); ok {
		p = abi.Plan{Error: &abi.SourceError{Message: refusal.Message, Source: refusal.Source, Line: refusal.Line}}
	} else if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	p.Judge = abi.Version
	return json.NewEncoder(out).Encode(p)
}

// read decodes one JSON value.
func read(in io.Reader, v any) error {
	if err := json.NewDecoder(in).Decode(v); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	return nil
}
