package build

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// Program is a submission that is ready to run, or that did not compile.
type Program struct {
	Toolchain  *Toolchain
	Plan       abi.Plan
	Compile    judge.Compile
	Message    string         // why it did not compile
	placed     []sandbox.File // the sources, as the plan names them
	Files      []sandbox.File // what the program is run from
	made       *made          // the same
	extra      Extra
	Cmd        sandbox.Cmd
	MemoryExit *regexp.Regexp
}

// Extra is what a program is compiled with besides its sources.
type Extra struct {
	Dialect string         // of its language, if the adapter knows it
	Entry   string         // the source that starts; "" = the adapter chooses
	Options []string       // further arguments of the compiler
	Files   []sandbox.File // that lie beside the sources
}

// Put puts the program into a box.
func (p *Program) Put(ctx context.Context, box *sandbox.Box) error {
	if p.made == nil { // nothing was compiled
		return box.Put(ctx, p.Files...)
	}
	return p.made.put(ctx, box)
}

// Add has the program run with further files, none of which takes the place of one of its own.
func (p *Program) Add(files []sandbox.File) {
	if len(files) > 0 {
		p.Files = Beside(files, p.Files)
		p.made = &made{files: p.Files}
	}
}

// Digest names what the program is run from.
func (p *Program) Digest() (string, error) { return key(p.Files) }

// Refuse makes p a compile error.
func (p *Program) Refuse(why string) {
	why = runner.Clean(why)
	p.Compile.OK, p.Compile.Output, p.Message = false, why, why
}

// Beside returns files and those that lie beside them. None of these takes the place of one of files.
func Beside(others, files []sandbox.File) []sandbox.File {
	others = slices.DeleteFunc(slices.Clone(others), func(o sandbox.File) bool {
		return slices.ContainsFunc(files, func(f sandbox.File) bool { return f.Path == o.Path })
	})
	return append(others, files...)
}

// sourceFiles are the files that the plan writes before compiling.
func (p *Program) sourceFiles(sources []abi.Source) ([]sandbox.File, error) {
	var files []sandbox.File
	for _, f := range p.Plan.Files {
		text := f.Text
		if f.Source != nil {
			if *f.Source < 0 || *f.Source >= len(sources) {
				return nil, fmt.Errorf("the adapter of %s plans with source %d of %d", p.Toolchain.ID, *f.Source, len(sources))
			}
			text = sources[*f.Source].Text
		}
		if !path.IsAbs(f.Path) && path.Clean(f.Path) == f.Path && f.Path != ".." && !strings.HasPrefix(f.Path, "../") {
			files = append(files, sandbox.File{Path: f.Path, Data: []byte(text)})
			continue
		}
		return nil, fmt.Errorf("the adapter of %s plans the file %q, which leaves the folder", p.Toolchain.ID, f.Path)
	}
	return files, nil
}

// command makes a sandbox command of a step, without limits.
func command(s abi.Step) sandbox.Cmd {
	c := sandbox.Cmd{Tool: s.Tool, Program: s.Program, Args: s.Args}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		c.Env = append(c.Env, name+"="+s.Env[name])
	}
	return c
}

// runCmd makes the command that runs the program.
func runCmd(p *Program, pkg *problem.Package, factor float64) error {
	step := p.Plan.Run
	c := command(step)
	c.Limits = sandbox.Limits{
		CPU:         time.Duration(float64(pkg.Limits.CPU) * factor),
		MemoryBytes: (pkg.Limits.MemoryMiB + step.Limits.ExtraMemoryMiB) << 20,
		OutputBytes: pkg.Limits.OutputMiB << 20,
		FileBytes:   step.Limits.FileMiB << 20,
		Processes:   step.Limits.Processes,
		Cores:       1,
	}
	p.Cmd = c
	if step.MemoryPolicy == "runtime+cgroup" && step.MemoryExit != "" {
		re, err := regexp.Compile(step.MemoryExit)
		if err != nil {
			return fmt.Errorf("the adapter's memory_exit: %w", err)
		}
		p.MemoryExit = re
	}
	return nil
}

// HandedIn returns the files of a submission: its sources with those that the
// package adds, and what was compiled from them.
func (p *Program) HandedIn() []sandbox.File { return Beside(p.placed, p.Files) }

// EntryPoint names where a program begins: the file that is interpreted, the class of
// a virtual machine, or else the first source.
func (p *Program) EntryPoint() string {
	args := p.Plan.Run.Args
	if n := len(args); n > 0 && slices.Contains([]string{"java", "kotlin"}, p.Toolchain.ID) {
		return args[n-1]
	}
	first := ""
	for _, f := range p.Plan.Files {
		if f.Source == nil {
			continue
		}
		if slices.Contains(args, f.Path) {
			return f.Path
		}
		if first == "" {
			first = f.Path
		}
	}
	return first
}
