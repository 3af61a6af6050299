package reading

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
	"deepoj/host/problem/source"
	"deepoj/host/reading/apart"
)

// Command is the hidden command that a program must hand to [Child].
const Command = "package-read"

// Child is the whole life of a reader: args are those of the process without its name, so args[0] is [Command]. It
// returns the exit status. A main calls it before anything else.
func Child(args []string) int { return apart.Child(args, child) }

func child(text []byte) error {
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	root, err := confined(o)
	if err != nil {
		return fmt.Errorf("confine itself: %w", err)
	}
	var pkg *problem.Package
	fsys, a, err := open(o, root)
	if err == nil && a.Archive == "" {
		reads := importing.Read
		if o.Statements {
			reads = importing.Statements
		}
		pkg, err = read(fsys, reads, &a)
	}
	if err == nil {
		err = tell(a)
	}
	if err == nil && pkg != nil {
		err = serve(pkg)
	}
	return err
}

// confined gives up what reading needs not, and returns the folder that is open, if it is one.
func confined(o order) (root *os.Root, err error) {
	o.Closed = o.Sample != ""
	if o.Folder {
		o.Reads = fmt.Sprintf("/proc/self/fd/%d", apart.Source)
		if root, err = os.OpenRoot(o.Reads); err != nil {
			return nil, err
		}
	}
	return root, o.Confine()
}

// open returns the files of the package that is open, or what is wrong with the archive.
func open(o order, root *os.Root) (fs.FS, answer, error) {
	switch {
	case o.Sample != "":
		fsys, err := samples.FS(o.Sample)
		return fsys, answer{}, err
	case root != nil:
		return root.FS(), answer{}, nil
	}
	z, err := zip.NewReader(os.NewFile(apart.Source, "archive"), o.Bytes)
	if err != nil {
		return nil, answer{Archive: "the file is no ZIP archive that can be read: " + err.Error()}, nil //nolint:nilerr // the answer says it
	}
	fsys, err := source.Unzip(z)
	if err != nil {
		return nil, answer{Archive: "the package is refused: " + err.Error()}, nil //nolint:nilerr // the answer says it
	}
	return fsys, answer{}, nil
}

// read reads the package into the answer. It is nil if it is refused.
func read(fsys fs.FS, reads func(fs.FS) (*problem.Package, problem.Report, error), a *answer) (*problem.Package, error) {
	pkg, report, err := reads(fsys)
	a.Report = report
	if err != nil {
		a.Refused = problem.Findings(err)
		return nil, nil //nolint:nilnil // the answer says why
	}
	a.Package, err = json.Marshal(pkg)
	return pkg, err
}

// tell sends the answer.
func tell(a answer) error {
	head, err := json.Marshal(a)
	if err == nil && len(head) > maxHead {
		why := fmt.Sprintf("is too much: what is in it takes %d MiB to list, and may take %d: leave files, tests or languages of the statement out", len(head)>>20, maxHead>>20)
		head, err = json.Marshal(answer{Report: a.Report, Refused: []problem.Finding{{File: "package", Reason: why}}})
	}
	if err != nil {
		return err
	}
	return writeFrame(os.Stdout, frameHead, head)
}

// serve sends the files that it is asked for, until nobody asks any more.
func serve(pkg *problem.Package) error {
	var question [questionSize]byte
	for {
		_, err := io.ReadFull(os.Stdin, question[:])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		number := binary.BigEndian.Uint32(question[:])
		if int64(number) >= int64(len(pkg.Files)) {
			return fmt.Errorf("there is no file %d", number)
		}
		bad, err := send(pkg, pkg.Files[number])
		if bad != nil {
			said := bad.Error()
			err = writeFrame(os.Stdout, frameError, []byte(said[:min(len(said), maxError)]))
		}
		if err != nil {
			return err
		}
	}
}

// send sends a file. Bad says what is wrong with it.
func send(pkg *problem.Package, f problem.File) (bad, err error) {
	r, bad := pkg.Open(context.Background(), f)
	if bad != nil {
		return bad, nil
	}
	defer r.Close() // it was only read
	buffer := make([]byte, maxData)
	for left := f.Size; ; {
		n, bad := io.ReadFull(r, buffer)
		ended := errors.Is(bad, io.EOF) || errors.Is(bad, io.ErrUnexpectedEOF)
		switch {
		case bad != nil && !ended:
			return bad, nil
		case int64(n) > left || ended && int64(n) < left:
			return fmt.Errorf("it is not of %d bytes", f.Size), nil
		case n > 0:
			if err := writeFrame(os.Stdout, frameData, buffer[:n]); err != nil {
				return nil, err
			}
		}
		if left -= int64(n); ended {
			return nil, writeFrame(os.Stdout, frameEnd, nil)
		}
	}
}
