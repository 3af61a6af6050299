package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"deepoj/host/judging/jury"
	"deepoj/host/problem"
)

// Finished reports whether a package can be judged as it is. Others need [Finish] first.
func Finished(pkg *problem.Package) bool { return pkg.Complete() && !inferable(pkg) }

// Finish returns pkg with what it lacks to be judged, stored: tests that its own programs make, as of [Make], and a
// time limit, as of [Infer]. The package must be saved, as for [Run].
func Finish(ctx context.Context, cfg Config, pkg *problem.Package) (*problem.Package, error) {
	made, err := Make(ctx, cfg, pkg)
	if err != nil {
		return nil, err
	}
	return Infer(ctx, cfg, made)
}

// maker makes the tests of a package.
type maker struct {
	cfg        Config
	pkg        *problem.Package
	generators map[string]*jury.Program
	main       *jury.Program

	mu              sync.Mutex
	inputs, answers map[string]problem.File // by test

	count *counter
}

// missing is how many tests lack something.
func (m *maker) missing() (n int) {
	for _, t := range m.pkg.Tests() {
		if t.Input.Path == "" || t.Answer.Path == "" {
			n++
		}
	}
	return n
}

// Make makes the inputs and answers that a package does not hold: its generators print the inputs, and its main
// solution the answers, or the interactor that talks with it, in the sandbox and under limits. A generator is run
// twice, and must print the same. Make returns the package with these tests, stored, or pkg itself if none is missing.
// The package must be saved, as for [Run].
func Make(ctx context.Context, cfg Config, pkg *problem.Package) (*problem.Package, error) {
	if pkg.Complete() {
		return pkg, nil
	}
	if cfg.Judge == nil {
		return nil, errors.New("make tests: Judge is missing")
	}
	cfg.Parallel = cmp.Or(cfg.Parallel, runtime.GOMAXPROCS(0))
	m := &maker{cfg: cfg, pkg: pkg, generators: map[string]*jury.Program{}, inputs: map[string]problem.File{}, answers: map[string]problem.File{}}
	m.count = cfg.begin(StepMake, m.missing())
	if err := m.build(ctx); err != nil {
		return nil, fmt.Errorf("%s: make tests: %w", pkg.Slug, err)
	}
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(cfg.Parallel)
	for _, t := range pkg.Tests() {
		g.Go(func() error {
			if err := m.make(within, t); err != nil {
				return fmt.Errorf("make test %s: %w", t.Name, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", pkg.Slug, err)
	}
	return pkg.WithTests(ctx, m.inputs, m.answers)
}

// build compiles the generators that are needed, and the main solution.
func (m *maker) build(ctx context.Context) error {
	needed, answers := map[string]bool{}, false
	for _, t := range m.pkg.Tests() {
		if t.Input.Path == "" && len(t.Made) > 0 {
			needed[t.Made[0]] = true
		}
		answers = answers || t.Answer.Path == "" && !m.twofold(t)
	}
	if err := m.compile(ctx, needed); err != nil {
		return err
	}
	if !answers {
		return nil
	}
	p := &proof{cfg: m.cfg, pkg: m.pkg, languages: m.cfg.Judge.Languages(ctx)}
	for _, s := range m.pkg.Submissions {
		if !s.Main {
			continue
		}
		payload, why, err := p.payload(ctx, s)
		if err == nil && why != "" {
			err = &fault{why}
		}
		if err == nil {
			var paths []string
			for _, f := range s.Files {
				paths = append(paths, f.Path)
			}
			m.main, err = m.cfg.Judge.Solution(ctx, m.pkg, payload, paths)
		}
		if err != nil {
			return fmt.Errorf("main solution %s: %w", s.Path, err)
		}
		return nil
	}
	return faultf("no solution is the main one, which gives the answers")
}

// madeMiB is how long an input may be at least that a generator makes.
const madeMiB = 256

// compile compiles generators, several at once.
func (m *maker) compile(ctx context.Context, needed map[string]bool) error {
	all := slices.DeleteFunc(slices.Clone(m.pkg.Generators), func(g problem.Program) bool { return !needed[g.Name] })
	m.count.more(len(all))
	from := *m.pkg // inputs may be longer than what programs and checkers may write
	from.Limits.CheckOutputMiB = max(from.Limits.CheckOutputMiB, madeMiB)
	return inParallel(ctx, m.cfg.Parallel, len(all), func(ctx context.Context, i int) error {
		p, err := m.cfg.Judge.Program(ctx, &from, all[i])
		if err != nil {
			return fmt.Errorf("generator %w", err)
		}
		m.mu.Lock()
		m.generators[all[i].Name] = p
		m.mu.Unlock()
		m.count.done("generator " + all[i].Name)
		return nil
	})
}

// make makes what a test lacks.
func (m *maker) make(ctx context.Context, t *problem.Test) error {
	if t.Input.Path != "" && t.Answer.Path != "" {
		return nil
	}
	defer m.count.done(t.Name)
	input := t.Input
	if input.Path == "" {
		var err error
		if input, err = m.generate(ctx, t); err != nil {
			return err
		}
	}
	if t.Answer.Path != "" || m.answered(t) {
		return nil
	}
	from, err := m.cfg.Judge.File(ctx, input)
	if err != nil {
		return err
	}
	defer from.Close()
	answer, err := m.store(ctx, path.Join("made", t.Name+".a"), func(out *os.File) error {
		if m.pkg.Interactor != nil {
			return m.cfg.Judge.Converse(ctx, m.main, from, out)
		}
		return run(ctx, m.main, nil, from, out)
	})
	if err != nil {
		return fmt.Errorf("the main solution on input %s: %w", input.Path, err)
	}
	m.keep(m.answers, t, answer)
	return nil
}

// generate makes the input of a test.
func (m *maker) generate(ctx context.Context, t *problem.Test) (problem.File, error) {
	if len(t.Made) == 0 || m.generators[t.Made[0]] == nil {
		return problem.File{}, faultf("nothing says how its input is made")
	}
	input, answer, err := m.print(ctx, t)
	if err != nil {
		return input, fmt.Errorf("by %q: %w", t.Made, err)
	}
	input2, answer2, err := m.print(ctx, t)
	if err != nil {
		return input, fmt.Errorf("by %q: %w", t.Made, err)
	}
	if input.Digest != input2.Digest || answer.Digest != answer2.Digest {
		return input, faultf("by %q: it prints something else each time: it must depend on its arguments only", t.Made)
	}
	if m.keep(m.inputs, t, input); answer.Path != "" && t.Answer.Path == "" {
		m.keep(m.answers, t, answer)
	}
	return input, nil
}

// print runs the generator of a test once, and stores what it prints. There is no answer unless it writes that, too.
func (m *maker) print(ctx context.Context, t *problem.Test) (input, answer problem.File, err error) {
	program, args, name := m.generators[t.Made[0]], t.Made[1:], path.Join("made", t.Name)
	if !m.twofold(t) {
		input, err = m.store(ctx, name, func(out *os.File) error { return run(ctx, program, args, nil, out) })
		return input, answer, err
	}
	answer, err = m.store(ctx, name+".a", func(other *os.File) error {
		input, err = m.store(ctx, name, func(out *os.File) error {
			said, err := program.RunTwofold(ctx, args, out, other)
			if err == nil && said.Exit != 0 {
				err = faultf("it ended with exit status %d: %s", said.Exit, said.Stderr)
			}
			return err
		})
		return err
	})
	return input, answer, err
}

// twofold reports whether the generator of a test writes its answer, too.
func (m *maker) twofold(t *problem.Test) bool {
	return t.Input.Path == "" && len(t.Made) > 0 &&
		slices.ContainsFunc(m.pkg.Generators, func(g problem.Program) bool { return g.Name == t.Made[0] && g.Answers })
}

// answered reports whether the answer of a test was made with its input.
func (m *maker) answered(t *problem.Test) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answers[t.Name].Path != ""
}

func (m *maker) keep(made map[string]problem.File, t *problem.Test, f problem.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	made[t.Name] = f
}

// run runs a program that must end well.
func run(ctx context.Context, program *jury.Program, args []string, input, output *os.File) error {
	said, err := program.Run(ctx, args, input, output)
	if err == nil && said.Exit != 0 {
		err = faultf("it ended with exit status %d: %s", said.Exit, said.Stderr)
	}
	return err
}

// store stores what is written.
func (m *maker) store(ctx context.Context, name string, write func(*os.File) error) (problem.File, error) {
	out, err := m.cfg.Judge.Scratch()
	if err != nil {
		return problem.File{}, err
	}
	defer out.Close()
	if err := write(out); err != nil {
		return problem.File{}, err
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return problem.File{}, fmt.Errorf("read what a program wrote: %w", err)
	}
	return m.pkg.Put(ctx, name, out)
}
