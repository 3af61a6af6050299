package judging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// The kinds of files that pictures are drawn of, as [problem.Picture] names them.
const (
	drawsPDF = "pdf"
	drawsEPS = "eps"
)

// What a drawn picture may be. A page shows it on about 800 pixels.
const (
	drawnDPI   = 144
	drawnSide  = 2400     // pixels of its longer side
	drawnBytes = 8 << 20  // of the PNG
	drawnFrom  = 32 << 20 // bytes of what it is drawn of
)

// paperText is the most that is taken of a document's text, in bytes, and paperPages how many of its pages are read.
const (
	paperText  = 1 << 20
	paperPages = 100
)

// DrawingTools are the programs that make pictures and text of what the setters of
// packages drew. Packages can do without.
func DrawingTools() []abi.Tool {
	return []abi.Tool{
		{Name: "pdftocairo", Package: "poppler-utils"},
		{Name: "pdfinfo", Package: "poppler-utils"},
		{Name: "pdftotext", Package: "poppler-utils"},
		{Name: "gs", Package: "ghostscript"},
	}
}

// drawLimits bound a program that draws, or reads a document.
var drawLimits = sandbox.Limits{
	CPU: 10 * time.Second, Wall: 60 * time.Second, MemoryBytes: 768 << 20, OutputBytes: drawnBytes, FileBytes: 64 << 20, Processes: 16,
}

// Draw makes a PNG picture of a file, of a kind that [problem.Picture] has in Convert,
// in a box: of the first page of a PDF, or of an EPS. The error says whose fault it
// is: an [*blame.UnavailableError] if this machine has not the program for it.
func (j *Judge) Draw(ctx context.Context, kind string, from problem.File) ([]byte, error) {
	data, err := j.drawing(ctx, from)
	if err != nil {
		return nil, err
	}
	var drawn []byte
	switch name := "figure." + kind; kind {
	case drawsPDF:
		var dpi string
		if dpi, err = j.pageDPI(ctx, name, data); err == nil {
			drawn, err = j.draw(ctx, "pdftocairo", name, data, drawnBytes, "-png", "-singlefile", "-f", "1", "-r", dpi, name, "-")
		}
	case drawsEPS:
		drawn, err = j.draw(ctx, "gs", name, data, drawnBytes, "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dEPSCrop", "-dLastPage=1", "-sDEVICE=png16m", "-r"+boxDPI(data),
			"-dTextAlphaBits=4", "-dGraphicsAlphaBits=4", "-sstdout=%stderr", "-sOutputFile=-", name)
	default:
		err = blame.Packagef("pictures are not drawn of %q", kind)
	}
	if err != nil {
		return nil, err
	}
	c, err := png.DecodeConfig(bytes.NewReader(drawn))
	if err != nil || c.Width > 2*drawnSide || c.Height > 2*drawnSide {
		return nil, blame.Packagef("nothing can be drawn of it that a page can show (%d × %d pixels)", c.Width, c.Height)
	}
	return drawn, nil
}

// Text returns the text of a PDF, cleaned, as far as it is text and of its first
// hundred pages. Errors are those of [Judge.Draw].
func (j *Judge) Text(ctx context.Context, from problem.File) (string, error) {
	data, err := j.drawing(ctx, from)
	if err != nil {
		return "", err
	}
	const name = "document.pdf"
	said, err := j.draw(ctx, "pdftotext", name, data, paperText, "-enc", "UTF-8", "-nopgbrk", "-l", strconv.Itoa(paperPages), name, "-")
	if err != nil {
		return "", err
	}
	return runner.Cut(runner.Clean(string(said)), paperText), nil
}

// drawing returns what is to be drawn.
func (j *Judge) drawing(ctx context.Context, from problem.File) ([]byte, error) {
	if from.Size > drawnFrom {
		return nil, blame.Packagef("it has %d MiB, and may have %d", from.Size>>20, drawnFrom>>20)
	}
	data, err := blob.ReadAll(ctx, j.cfg.Blobs, from.Digest, drawnFrom)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.Path, err)
	}
	return data, nil
}

// draw runs a tool on one file in a box of its own, and returns at most limit bytes of what it prints.
func (j *Judge) draw(ctx context.Context, tool, name string, data []byte, limit int64, args ...string) (printed []byte, err error) {
	if _, err := j.Find(ctx, drawingTool(tool)); err != nil {
		return nil, err
	}
	box, err := j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if err := box.Put(ctx, sandbox.File{Path: name, Data: data}); err != nil {
		return nil, blame.Theirs(tool, sandbox.Result{}, err)
	}
	streams, err := j.Streams()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, streams.Close()) }()
	ran, err := j.RunIn(ctx, box, sandbox.Cmd{
		Tool: tool, Args: args, Stdout: streams.Out, Stderr: streams.Err, StdoutLimit: limit + 1, StderrLimit: runner.KeptStderr, Limits: drawLimits,
	})
	if err := blame.Theirs(tool, ran, err); err != nil {
		return nil, err
	}
	if ran.Verdict != sandbox.OK {
		return nil, drawFailure(tool, ran, streams.Err)
	}
	if ran.StdoutBytes > limit {
		if tool == "pdftotext" {
			return firstBytes(streams.Out, limit)
		}
		return nil, blame.Packagef("what is drawn has more than %d MiB", limit>>20)
	}
	return firstBytes(streams.Out, limit)
}

// firstBytes returns the beginning of a file.
func firstBytes(f *os.File, limit int64) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(f, 0, limit))
}

// drawFailure says why a tool did not end well. It is the file's doing, unless the sandbox failed.
func drawFailure(tool string, ran sandbox.Result, stderr *os.File) error {
	why := ""
	switch ran.Verdict {
	case sandbox.SE:
		return fmt.Errorf("%s: the sandbox failed: %s", tool, ran.Error)
	case sandbox.TLE:
		why = fmt.Sprintf("takes more than %s", drawLimits.CPU)
	case sandbox.MLE:
		why = fmt.Sprintf("takes more than %d MiB of memory", drawLimits.MemoryBytes>>20)
	case sandbox.OLE:
		why = fmt.Sprintf("gives more than %d MiB", drawnBytes>>20)
	case sandbox.OK, sandbox.RE:
		said, err := runner.Head(stderr, runner.KeptWords)
		if err != nil {
			return err
		}
		line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
		why = fmt.Sprintf("ends with exit status %d: %s", ran.ExitCode, runner.Cut(line, 200))
	}
	return blame.Packagef("%s %s", tool, why)
}

func drawingTool(name string) abi.Tool {
	for _, t := range DrawingTools() {
		if t.Name == name {
			return t
		}
	}
	return abi.Tool{Name: name}
}

var (
	pageSize    = regexp.MustCompile(`(?m)^Page +1 size: +([0-9.]+) x ([0-9.]+) pts`)
	boundingBox = regexp.MustCompile(`(?m)^%%BoundingBox: *(-?\d+) +(-?\d+) +(-?\d+) +(-?\d+)`)
)

// pageDPI is how fine the first page of a PDF is drawn.
func (j *Judge) pageDPI(ctx context.Context, name string, data []byte) (string, error) {
	said, err := j.draw(ctx, "pdfinfo", name, data, runner.KeptWords, "-f", "1", "-l", "1", name)
	if err != nil {
		return "", err
	}
	m := pageSize.FindSubmatch(said)
	if m == nil {
		return "", blame.Package(errors.New("it has no page that can be drawn"))
	}
	return dpiFor(number(m[1]), number(m[2])), nil
}

// boxDPI is how fine an EPS is drawn.
func boxDPI(data []byte) string {
	m := boundingBox.FindSubmatch(data[:min(len(data), 64<<10)])
	if m == nil {
		return strconv.Itoa(drawnDPI)
	}
	return dpiFor(number(m[3])-number(m[1]), number(m[4])-number(m[2]))
}

func number(text []byte) float64 {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0 // the pattern lets numbers through only
	}
	return n
}

// dpiFor is the resolution at which a figure of so many points has no more pixels than a picture may.
func dpiFor(width, height float64) string {
	dpi := float64(drawnDPI)
	if side := max(width, height); side*dpi/72 > drawnSide {
		dpi = drawnSide * 72 / side
	}
	return strconv.FormatFloat(max(dpi, 1), 'f', 2, 64)
}
