package build

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"

	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// What a submission's own files make impossible is the submission's fault: a name that no file system takes, a file
// where another one needs a folder, a compiler that leaves too much or no program. Before and while the program is
// compiled that is a compile error, and afterwards a run-time error. It is never a failure of the platform, which would
// only try the same again.

// What file systems take, and less of everything than the sandbox takes: programs of
// the judges are shown the files of a submission among others, in a folder.
const (
	maxFileName      = 255 // bytes
	maxFilePath      = 900 // bytes
	maxFileDepth     = 40  // folders
	maxArtifactFiles = 10_000
	shownName        = 60 // of a name in a message
)

// Unplaceable says why files cannot lie in one folder; "" if they can.
func Unplaceable(files []sandbox.File) string {
	is := map[string]bool{}
	for _, f := range files {
		is[f.Path] = true
	}
	for _, f := range files {
		if f.Path == "" || f.Path == "." || f.Path == ".." || path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path ||
			strings.HasPrefix(f.Path, "../") || strings.ContainsRune(f.Path, 0) {
			return fmt.Sprintf("%q is no path of a file below the working directory", runner.Cut(f.Path, shownName))
		}
		if len(f.Path) > maxFilePath {
			return fmt.Sprintf("the path %q has %d bytes, more than %d", runner.Cut(f.Path, shownName), len(f.Path), maxFilePath)
		}
		if n := strings.Count(f.Path, "/"); n > maxFileDepth {
			return fmt.Sprintf("%q lies %d folders deep, more than %d", runner.Cut(f.Path, shownName), n, maxFileDepth)
		}
		for part := range strings.SplitSeq(f.Path, "/") {
			if len(part) > maxFileName {
				return fmt.Sprintf("the file name %q has %d bytes, more than %d: a shorter name is needed", runner.Cut(part, shownName), len(part), maxFileName)
			}
		}
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			if is[dir] {
				return fmt.Sprintf("%q cannot lie in the folder %q, because that is a file of the program", f.Path, dir)
			}
		}
	}
	return ""
}

// unstartable says why what a compiler left cannot be started as a plan wants; "" if it can, as far as can be seen.
func unstartable(run abi.Step, files []sandbox.File) string {
	if run.Program == "" || path.IsAbs(run.Program) {
		return ""
	}
	name := path.Clean(run.Program)
	for _, f := range files {
		if f.Path != name {
			continue
		}
		if f.Mode&0o111 == 0 {
			return "the compiler left no whole program that can be started, but a part of one: is there a main program?"
		}
		return ""
	}
	return "the compiler left no program"
}

// unreadable decides whose fault it is that a plan failed, with an error that is a [*plugin.Error] or says what is
// wrong with the plan. An adapter that plans its own example is well: then it is this submission that cannot be planned
// for, p is a compile error, and the error is nil.
func (b *Builder) unreadable(ctx context.Context, p *Program, fault error) error {
	if errors.Is(fault, plugin.ErrPatience) {
		return fault
	}
	if _, err := b.planExample(ctx, p.Toolchain); err != nil {
		return fault
	}
	b.cfg.Log.WarnContext(ctx, "a submission cannot be planned for", slog.String("language", p.Toolchain.ID), slog.Any("err", fault))
	p.Refuse("the program cannot be compiled here: " + reason(fault))
	return nil
}

// reason is what contestants are told of a fault.
func reason(fault error) string {
	switch {
	case errors.Is(fault, plugin.ErrFuel), errors.Is(fault, plugin.ErrMemory), errors.Is(fault, plugin.ErrOutput):
		return "it is too much to read; make its files smaller or simpler"
	}
	return "its files or their names cannot be read"
}
