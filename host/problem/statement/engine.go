package statement

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// dist holds temml, which `make build` fetches.
//
//go:embed dist
var dist embed.FS

// What rendering formulas may take.
const (
	formulaTime  = 30 * time.Second // of all formulas of a package
	formulaCalls = 2000             // functions in functions
	formulaCells = 20_000           // cells of a table, if each row has all columns
	formulaDepth = 100              // braces in braces
	formulaMacro = "1000"           // macros of the library that one formula may use
)

// script calls temml. What cannot be read at all comes back as the reason.
const script = `(function (tex, display) {
	try {
		return ["", temml.renderToString(tex, {displayMode: display, throwOnError: false, errorColor: "` + safe.UnknownInk + `",
			maxSize: [50, 500], maxExpand: ` + formulaMacro + `, trust: false, strict: false})];
	} catch (e) { return [String(e && e.message || e), ""]; }
})`

// library is temml, compiled once.
var library = sync.OnceValues(func() (*goja.Program, error) {
	source, err := temml()
	if err != nil {
		return nil, err
	}
	return goja.Compile("temml.js", source, false)
})

// temml returns the source of temml.
func temml() (string, error) {
	packed, err := dist.ReadFile("dist/temml.js.gz")
	if err != nil {
		return "", ErrNotBuilt
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("unpack temml: %w", err)
	}
	source, err := io.ReadAll(z)
	if err != nil {
		return "", fmt.Errorf("unpack temml: %w", err)
	}
	return string(source), nil
}

// engine renders formulas. Everything that it made is kept, since statements repeat
// their formulas, also between languages.
type engine struct {
	vm     *goja.Runtime
	render goja.Callable
	left   time.Duration
	made   map[formula]rendered
	kept   int // bytes in made
}

// maxKept is how many bytes of formulas are kept.
const maxKept = 8 << 20

type formula struct {
	tex     string
	display bool
}

// rendered is a formula in MathML, or why it is none.
type rendered struct{ html, why string }

func newEngine() (*engine, error) {
	program, err := library()
	if err != nil {
		return nil, err
	}
	e := &engine{vm: goja.New(), left: formulaTime, made: map[formula]rendered{}}
	e.vm.SetMaxCallStackSize(formulaCalls)
	if _, err := e.vm.RunProgram(program); err != nil {
		return nil, fmt.Errorf("load temml: %w", err)
	}
	call, err := e.vm.RunString(script)
	if err != nil {
		return nil, fmt.Errorf("load temml: %w", err)
	}
	render, ok := goja.AssertFunction(call)
	if !ok {
		return nil, errors.New("load temml: it has no function")
	}
	e.render = render
	return e, nil
}

// errSlow says that formulas take too long.
var errSlow = fmt.Errorf("holds formulas that take more than %s to render: make them simpler", formulaTime)

// formula renders one formula. An error ends the statement.
func (e *engine) formula(tex string, display bool) (rendered, error) {
	key := formula{tex, display}
	if done, ok := e.made[key]; ok {
		return done, nil
	}
	if why := unfit(tex); why != "" {
		return rendered{why: why}, nil
	}
	began := time.Now()
	timer := time.AfterFunc(e.left, func() { e.vm.Interrupt(errSlow) })
	value, err := e.render(goja.Undefined(), e.vm.ToValue(tex), e.vm.ToValue(display))
	timer.Stop()
	e.left -= time.Since(began)
	if _, slow := errors.AsType[*goja.InterruptedError](err); slow || e.left <= 0 {
		return rendered{}, errSlow
	}
	var done rendered
	var said []string
	if err == nil {
		err = e.vm.ExportTo(value, &said)
	}
	switch {
	case err != nil || len(said) != 2:
		done.why = "too much is in it"
	case said[0] != "":
		done.why = said[0]
	default:
		done.html = said[1]
	}
	if _, message, ok := strings.Cut(done.html, "\n\nParseError: "); ok && strings.HasPrefix(done.html, `<span class="temml-error"`) {
		done = rendered{why: strings.TrimSuffix(message, "</span>")}
	}
	if e.kept += len(done.html); e.kept < maxKept {
		e.made[key] = done
	}
	return done, nil
}

// unfit says why a formula is not even tried: the library's work would grow faster than it.
func unfit(tex string) string {
	if len(tex) > macro.MaxFormula {
		return fmt.Sprintf("it is longer than %d KiB", macro.MaxFormula>>10)
	}
	depth, deepest := 0, 0
	for i := range len(tex) {
		switch tex[i] {
		case '{':
			depth++
			deepest = max(deepest, depth)
		case '}':
			depth--
		}
	}
	if deepest > formulaDepth || strings.Count(tex, `\left`) > formulaDepth || strings.Count(tex, `\begin`) > formulaDepth {
		return fmt.Sprintf("it has more than %d groups in each other", formulaDepth)
	}
	if cells := (strings.Count(tex, `\\`) + strings.Count(tex, `\cr`) + 1) * (strings.Count(tex, "&") + 1); cells > formulaCells {
		return "its table is too large"
	}
	return ""
}
