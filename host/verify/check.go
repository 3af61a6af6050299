package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"deepoj/host/blob"
	"deepoj/host/judging"
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

// inspect returns how much was looked at, and what is wrong, in order.
func inspect(ctx context.Context, cfg Config, pkg *problem.Package) (checked int, faults []string, err error) {
	i := &inspection{cfg: cfg, pkg: pkg}
	i.count = cfg.begin(StepInspect, i.questions())
	if err := i.validate(ctx); err != nil {
		return 0, nil, err
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
		return 0, nil, err
	}
	slices.Sort(i.faults)
	return i.checked, i.faults, nil
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
	built := make([]*judging.Program, len(i.pkg.Validators))
	whole := true
	for n, v := range i.pkg.Validators {
		p, err := i.cfg.Judge.Program(ctx, i.pkg, v.Program)
		if _, missing := errors.AsType[*judging.UnavailableError](err); missing || judging.AtFault(err) {
			i.fault("validator %v", err)
			whole = false
			continue
		}
		if err != nil {
			return fmt.Errorf("validator %w", err)
		}
		built[n] = p
	}
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(i.cfg.Parallel)
	type look struct {
		validator int
		input     blob.Digest
		flags     string
	}
	done := map[look]bool{}
	for n, v := range i.pkg.Validators {
		if built[n] == nil {
			continue
		}
		for _, t := range i.pkg.Tests() {
			flags := slices.Concat(t.FlagsOf(v.Name), t.Args)
			l := look{n, t.Input.Digest, fmt.Sprintf("%q %v", flags, t.Files)}
			if done[l] {
				continue
			}
			done[l] = true
			g.Go(func() error { return i.expect(within, v, built[n], t.Input, flags, true, t.Files...) })
		}
		for _, t := range v.Tests {
			g.Go(func() error { return i.expect(within, v, built[n], t.Input, t.Flags, t.Valid) })
		}
	}
	for _, in := range i.pkg.Invalid {
		if !whole { // the one that is missing may be the one to reject it
			break
		}
		g.Go(func() error { return i.refused(within, built, in) })
	}
	for _, t := range i.pkg.CheckerTests {
		for n, v := range i.pkg.Validators {
			if t.Valid != nil && built[n] != nil {
				g.Go(func() error { return i.expect(within, v, built[n], t.Valid.File, t.Valid.FlagsOf(v.Name), true) })
			}
		}
	}
	return g.Wait()
}

// What a validator says of an input.
const (
	valid = iota
	invalid
	broken // nothing, for it was ended
)

// expect asks a validator about an input of which is known what it must say.
func (i *inspection) expect(ctx context.Context, v problem.Validator, p *judging.Program, f problem.File, flags []string, want bool,
	beside ...problem.NamedFile,
) error {
	says, why, err := i.ask(ctx, v, p, f, flags, beside...)
	switch {
	case err != nil:
		return err
	case says == broken:
		i.fault("%s: validator %s", f.Path, why)
	case says == invalid && want:
		i.fault("%s: validator %s rejects it: %s", f.Path, v.Name, why)
	case says == valid && !want:
		i.fault("%s: validator %s accepts it, and must not", f.Path, v.Name)
	}
	return nil
}

// refused asks the validators about an input that one of them must reject.
func (i *inspection) refused(ctx context.Context, built []*judging.Program, in problem.OwnInput) error {
	for n, v := range i.pkg.Validators {
		says, why, err := i.ask(ctx, v, built[n], in.File, in.FlagsOf(v.Name))
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
func (i *inspection) ask(ctx context.Context, v problem.Validator, p *judging.Program, f problem.File, flags []string,
	beside ...problem.NamedFile,
) (says int, why string, err error) {
	input, err := i.cfg.Judge.File(ctx, f)
	if err != nil {
		return broken, "", err
	}
	defer input.Close()
	out, err := i.cfg.Judge.Scratch()
	if err != nil {
		return broken, "", err
	}
	defer out.Close()
	said, err := p.Run(ctx, flags, input, out, beside...)
	if judging.AtFault(err) {
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
	if v.Protocol == "testlib/1" {
		good = 0
	}
	if said.Exit == good {
		return valid, why, nil
	}
	return invalid, fmt.Sprintf("exit status %d: %s", said.Exit, why), nil
}

// beginning returns the first words of a file.
func beginning(f *os.File) string {
	b := make([]byte, 400)
	n, _ := f.ReadAt(b, 0) // the end comes early
	return strings.ToValidUTF8(strings.TrimSpace(string(b[:n])), "\uFFFD")
}
