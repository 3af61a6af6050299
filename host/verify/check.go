package verify

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"deepoj/host/judging/blame"
	"deepoj/host/judging/jury"
	"deepoj/host/problem"
)

// inspection runs the validators of a package on its inputs, and its checkers on
// the outputs of which it knows what they must say.
type inspection struct {
	cfg Config
	pkg *problem.Package

	mu      sync.Mutex
	checked int
	faults  []string
	notes   []string
	count   *counter
}

// questions is about how often validators and checkers will be asked.
func (i *inspection) questions() int {
	n := len(i.pkg.CheckerTests)
	for _, v := range i.pkg.Validators {
		n += len(i.pkg.Tests()) + len(v.Tests) + len(i.pkg.Invalid) + len(i.pkg.CheckerTests)
	}
	return n
}

// inspect looks at the tests of a package. What is wrong is in order.
func inspect(ctx context.Context, cfg Config, pkg *problem.Package) (*inspection, error) {
	i := &inspection{cfg: cfg, pkg: pkg}
	i.count = cfg.begin(StepInspect, i.questions())
	if err := i.validate(ctx); err != nil {
		return nil, err
	}
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(cfg.Parallel)
	for _, t := range pkg.CheckerTests {
		if len(pkg.Checkers) == 0 {
			i.fault("%s: nobody decides on outputs: an interactive problem has none", t.Output.Path)
			break
		}
		g.Go(func() error {
			says, why, err := cfg.Judge.Opinion(within, pkg, t)
			if err != nil {
				return fmt.Errorf("%s: %w", t.Output.Path, err)
			}
			i.looked()
			if says != t.Wants {
				i.fault("%s: the checker says %s, must say %s: %s", t.Output.Path, says, t.Wants, why)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.Sort(i.faults)
	return i, nil
}

func (i *inspection) looked() {
	i.mu.Lock()
	i.checked++
	i.mu.Unlock()
	i.count.done("")
}

// fault records what is wrong.
func (i *inspection) fault(format string, args ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.faults = append(i.faults, fmt.Sprintf(format, args...))
}

// validate runs every validator on every distinct input.
func (i *inspection) validate(ctx context.Context) error {
	if len(i.pkg.Validators) == 0 {
		if len(i.pkg.Invalid) > 0 {
			i.fault("%s: no validator can reject it: put one into input_validators", i.pkg.Invalid[0].Path)
		}
		return nil
	}
	built := make([]*jury.Program, len(i.pkg.Validators))
	whole := true
	for n, v := range i.pkg.Validators {
		p, err := i.cfg.Judge.Program(ctx, i.pkg, v.Program)
		if _, missing := errors.AsType[*blame.UnavailableError](err); missing || blame.AtFault(err) {
			i.fault("validator %v", err)
			whole = false
			continue
		}
		if err != nil {
			return fmt.Errorf("validator %w", err)
		}
		built[n] = p
	}
	for n, v := range i.pkg.Validators {
		if built[n] == nil {
			continue
		}
		if err := i.interview(ctx, v, built[n]); err != nil {
			return err
		}
	}
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(i.cfg.Parallel)
	for _, in := range i.pkg.Invalid {
		if !whole { // the one that is missing may be the one to reject it
			break
		}
		g.Go(func() error { return i.refused(within, built, in) })
	}
	return g.Wait()
}

// question is an input of which is known what a validator must say.
type question struct {
	input  problem.File
	flags  []string
	want   bool
	beside []problem.NamedFile
}

// questionsFor returns what a validator is asked, everything once.
func (i *inspection) questionsFor(v problem.Validator) (all []question) {
	done := map[string]bool{}
	for _, t := range i.pkg.Tests() {
		q := question{t.Input, slices.Concat(t.FlagsOf(v.Name), t.Args), true, t.Files}
		if id := fmt.Sprintf("%s %q %v", t.Input.Digest, q.flags, t.Files); !done[id] {
			done[id] = true
			all = append(all, q)
		}
	}
	for _, t := range v.Tests {
		all = append(all, question{t.Input, t.Flags, t.Valid, nil})
	}
	for _, t := range i.pkg.CheckerTests {
		if t.Valid != nil {
			all = append(all, question{t.Valid.File, t.Valid.FlagsOf(v.Name), true, nil})
		}
	}
	return all
}

// What a validator says of an input.
const (
	valid = iota
	invalid
	broken // nothing, for it was ended
)

// opinion is what a validator says of a question, and its words.
type opinion struct {
	says int
	why  string
}

// interview asks a validator everything. One that was written for Windows may insist on
// its line ends, which tests have there: if one for testlib refuses an input that it must
// accept, and accepts it with them, it is asked everything with them.
func (i *inspection) interview(ctx context.Context, v problem.Validator, p *jury.Program) error {
	all := i.questionsFor(v)
	opinions, err := i.opinions(ctx, v, p, all, false)
	if err != nil {
		return err
	}
	first := -1 // of those that it must accept and does not
	for n, o := range opinions {
		if first < 0 && o.says == invalid && all[n].want {
			first = n
		}
	}
	if first >= 0 && v.Protocol == testlib {
		i.count.more(1)
		other, err := i.opinions(ctx, v, p, all[first:first+1], true)
		if err != nil {
			return err
		}
		if other[0].says == valid {
			i.count.more(len(all))
			if opinions, err = i.opinions(ctx, v, p, all, true); err != nil {
				return err
			}
			i.notes = append(i.notes, fmt.Sprintf("validator %s is asked with the line ends of Windows, on which it insists: %s with those of this system, which programs get, it refuses",
				v.Name, all[first].input.Path))
		}
	}
	for n, o := range opinions {
		switch q := all[n]; {
		case o.says == broken:
			i.fault("%s: validator %s", q.input.Path, o.why)
		case o.says == invalid && q.want:
			i.fault("%s: validator %s rejects it: %s", q.input.Path, v.Name, o.why)
		case o.says == valid && !q.want:
			i.fault("%s: validator %s accepts it, and must not", q.input.Path, v.Name)
		}
	}
	return nil
}

// opinions returns what a validator says of each question, asked with the line ends of Windows or of this system.
func (i *inspection) opinions(ctx context.Context, v problem.Validator, p *jury.Program, all []question, windows bool) ([]opinion, error) {
	said := make([]opinion, len(all))
	return said, inParallel(ctx, i.cfg.Parallel, len(all), func(ctx context.Context, n int) (err error) {
		q := all[n]
		said[n].says, said[n].why, err = i.ask(ctx, v, p, q.input, q.flags, windows, q.beside...)
		return err
	})
}

// refused asks the validators about an input that one of them must reject.
func (i *inspection) refused(ctx context.Context, built []*jury.Program, in problem.OwnInput) error {
	for n, v := range i.pkg.Validators {
		says, why, err := i.ask(ctx, v, built[n], in.File, in.FlagsOf(v.Name), false)
		if says == broken && err == nil {
			i.fault("%s: validator %s", in.Path, why)
		}
		if err != nil || says != valid {
			return err
		}
	}
	i.fault("%s: every validator accepts it, and one must not", in.Path)
	return nil
}

// ask asks a validator about an input, and returns its words.
func (i *inspection) ask(ctx context.Context, v problem.Validator, p *jury.Program, f problem.File, flags []string, windows bool,
	beside ...problem.NamedFile,
) (says int, why string, err error) {
	input, err := i.cfg.Judge.File(ctx, f)
	if err != nil {
		return broken, "", err
	}
	defer input.Close()
	if windows {
		if input, err = i.asOnWindows(input); err != nil {
			return broken, "", err
		}
		defer input.Close()
	}
	out, err := i.cfg.Judge.Scratch()
	if err != nil {
		return broken, "", err
	}
	defer out.Close()
	said, err := p.Run(ctx, flags, input, out, beside...)
	if blame.AtFault(err) {
		return broken, err.Error(), nil
	}
	if err != nil {
		return broken, "", err
	}
	i.looked()
	if why = said.Stderr; why == "" {
		why = beginning(out)
	}
	good := 42
	if v.Protocol == testlib {
		good = 0
	}
	if said.Exit == good {
		return valid, why, nil
	}
	return invalid, fmt.Sprintf("exit status %d: %s", said.Exit, why), nil
}

// asOnWindows returns a file without a name that holds text with the line ends of Windows.
func (i *inspection) asOnWindows(text io.Reader) (*os.File, error) {
	out, err := i.cfg.Judge.Scratch()
	if err != nil {
		return nil, err
	}
	in, to := bufio.NewReader(text), bufio.NewWriter(out)
	for before := byte(0); ; {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && c == '\n' && before != '\r' {
			err = to.WriteByte('\r')
		}
		if err == nil {
			err = to.WriteByte(c)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("write an input with the line ends of Windows: %w", err), out.Close())
		}
		before = c
	}
	if err = to.Flush(); err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write an input with the line ends of Windows: %w", err), out.Close())
	}
	return out, nil
}

// testlib is the protocol of programs that are written with testlib.h.
const testlib = "testlib/1"

// beginning returns the first words of a file.
func beginning(f *os.File) string {
	b := make([]byte, 400)
	n, _ := f.ReadAt(b, 0) // the end comes early
	return strings.ToValidUTF8(strings.TrimSpace(string(b[:n])), "\uFFFD")
}
