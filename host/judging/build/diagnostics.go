package build

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"regexp"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// maxDiagnostics is how many messages of a compiler are kept.
const maxDiagnostics = 100

// The formats that compilers share.
var (
	gccFormat   = regexp.MustCompile(`^(?P<file>[^:\s][^:]*):(?P<line>\d+):(?:(?P<col>\d+):)? (?:fatal )?(?P<severity>error|warning|note): (?P<message>.*)$`)
	javacFormat = regexp.MustCompile(`^(?P<file>[^:\s][^:]*\.java):(?P<line>\d+): (?:(?P<severity>error|warning): )?(?P<message>.*)$`)
)

// diagnose reads a compiler's words. An adapter that fails to is no obstacle: the words themselves are shown anyway.
func (b *Builder) diagnose(ctx context.Context, p *Program, sources []abi.Source, out, errs string) ([]judge.Diagnostic, error) {
	var ds []judge.Diagnostic
	switch f := p.Plan.Diagnostics; f.Name {
	case "":
		return nil, nil
	case "gcc":
		ds = parse(gccFormat, errs+"\n"+out)
	case "javac":
		ds = columns(parse(javacFormat, errs+"\n"+out), errs+"\n"+out)
	case "regex":
		re, err := regexp.Compile(f.Pattern)
		if err != nil {
			return nil, fmt.Errorf("the diagnostics pattern of %s: %w", p.Toolchain.ID, err)
		}
		ds = parse(re, errs+"\n"+out)
	case "plugin":
		reply, err := b.cfg.Plugins.Diagnostics(ctx, p.Toolchain.Module, abi.DiagnosticsRequest{Sources: sources, Stdout: out, Stderr: errs})
		if fault, ok := errors.AsType[*plugin.Error](err); ok {
			b.cfg.Log.WarnContext(ctx, "adapter cannot read its compiler", slog.String("language", p.Toolchain.ID), slog.Any("err", fault))
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, d := range reply.Diagnostics {
			ds = append(ds, judge.Diagnostic{File: d.File, Line: d.Line, Column: d.Column, Severity: d.Severity, Message: d.Message})
		}
	default:
		return nil, fmt.Errorf("the adapter of %s has diagnostics in the unknown format %q", p.Toolchain.ID, f.Name)
	}
	if len(ds) > maxDiagnostics {
		ds = ds[:maxDiagnostics]
	}
	for i := range ds {
		ds[i].File = p.submitted(ds[i].File, sources)
		ds[i].Message = runner.Cut(runner.Clean(ds[i].Message), runner.KeptWords)
	}
	return ds, nil
}

// submitted returns the name under which a file of the box was handed in. Other files keep theirs.
func (p *Program) submitted(name string, sources []abi.Source) string {
	short := path.Clean(strings.TrimPrefix(name, "/box/"))
	for _, f := range p.Plan.Files {
		if f.Path == short && f.Source != nil && *f.Source < len(sources) {
			return runner.Clean(sources[*f.Source].Name)
		}
	}
	return runner.Clean(name)
}

// parse matches each line with a pattern that has the named groups file, line, col, severity and message.
func parse(re *regexp.Regexp, text string) []judge.Diagnostic {
	var ds []judge.Diagnostic
	for line := range strings.Lines(text) {
		m := re.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		get := func(name string) string {
			if i := re.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		d := judge.Diagnostic{File: get("file"), Severity: strings.ToLower(get("severity")), Message: get("message")}
		d.Line, _ = strconv.Atoi(get("line")) // what is no number is unknown, 0
		d.Column, _ = strconv.Atoi(get("col"))
		switch d.Severity {
		case "error", "warning", "note":
		default:
			d.Severity = "error"
		}
		ds = append(ds, d)
	}
	return ds
}

// columns finds the columns of javac's messages: two lines below a message a caret stands under the place.
func columns(ds []judge.Diagnostic, text string) []judge.Diagnostic {
	lines := strings.Split(text, "\n")
	at := 0
	for i := range ds {
		prefix := fmt.Sprintf("%s:%d:", ds[i].File, ds[i].Line)
		for at < len(lines) && !strings.HasPrefix(lines[at], prefix) {
			at++
		}
		for n := at + 1; n < len(lines) && !javacFormat.MatchString(lines[n]); n++ {
			if caret := strings.TrimLeft(lines[n], " \t"); caret == "^" {
				ds[i].Column = len(lines[n])
				break
			}
		}
		at++
	}
	return ds
}
