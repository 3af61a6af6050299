package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"

	"golang.org/x/sync/errgroup"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// manifest looks at what the module says of itself.
func (s *suite) manifest() (string, error) {
	m := s.module
	if err := s.described(); err != nil {
		return "", err
	}
	if a, g := m.Asked, m.Manifest.Limits; a.MemoryMiB > g.MemoryMiB || a.FuelM > g.FuelM || a.OutputKiB > g.OutputKiB {
		s.find("limits", fmt.Sprintf("it asks for %d MiB, %d million units and %d KiB, and gets %d, %d and %d",
			a.MemoryMiB, a.FuelM, a.OutputKiB, g.MemoryMiB, g.FuelM, g.OutputKiB))
	}
	s.options()
	switch m.Manifest.Kind {
	case abi.Checker:
		expects := map[string]bool{}
		for _, t := range m.Manifest.Tests {
			expects[t.Expect] = true
		}
		if !expects["accepted"] || !expects["wrong"] && !expects["presentation"] {
			s.find("no-tests", fmt.Sprintf("of %d tests none expects accepted, or none expects wrong", len(m.Manifest.Tests)))
		}
	case abi.Toolchain:
		if l := m.Manifest.Language; len(l.Hello) == 0 || len(l.Broken) == 0 || l.BrokenLine < 1 {
			s.find("examples", fmt.Sprintf("%d files of hello, %d of broken, broken_line %d", len(l.Hello), len(l.Broken), l.BrokenLine))
		}
	case abi.Interactor:
	}
	return "", nil
}

// described compares the section with what the module prints.
func (s *suite) described() error {
	if s.module.Origin != plugin.FromSection {
		return nil // it is the description itself, or there is none
	}
	said, err := s.rt.Describe(s.ctx, s.module)
	if refusal, ok := errors.AsType[*plugin.Refusal](err); ok {
		s.find("describe", "what it prints is refused: "+refusal.Offender)
		return nil
	}
	if err != nil || said == nil {
		return err
	}
	have := s.module.Manifest
	have.Limits = s.module.Asked
	if field := differs(have, *said); field != "" {
		s.find("describe", fmt.Sprintf("the field %s differs between the section and --describe", field))
	}
	return nil
}

// differs names the first field in which two manifests differ, or returns "".
func differs(a, b abi.Manifest) string {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		f := x.Type().Field(i)
		left, errA := json.Marshal(x.Field(i).Interface())
		right, errB := json.Marshal(y.Field(i).Interface())
		if errA != nil || errB != nil || !sameJSON(left, right) {
			return f.Name
		}
	}
	return ""
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// placeholder is how args name an option.
var placeholder = regexp.MustCompile(`\{([A-Za-z0-9_]+)\}`)

// options looks at the schema of the options and the arguments made of them.
func (s *suite) options() {
	m := s.module.Manifest
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if len(m.Options) > 0 && string(m.Options) != "null" {
		if err := json.Unmarshal(m.Options, &schema); err != nil || schema.Type != "object" {
			s.find("options", fmt.Sprintf("options is no schema of an object: %.100s", m.Options))
			return
		}
	}
	for _, arg := range m.Args {
		for _, name := range placeholder.FindAllStringSubmatch(arg, -1) {
			if _, ok := schema.Properties[name[1]]; !ok {
				s.find("options", fmt.Sprintf("the argument %q names {%s}, which is no property of options", arg, name[1]))
			}
		}
	}
}

// ownTests asks the tests of the manifest, twice each. Those that are accepted become samples.
func (s *suite) ownTests() (string, error) {
	for i, t := range s.module.Manifest.Tests {
		c := &sample{
			name: fmt.Sprintf("test %d of the manifest", i+1), args: t.Args,
			input: []byte(t.Input), output: []byte(t.Output), answer: []byte(t.Answer),
		}
		err := s.open(c)
		got := ""
		if err == nil {
			got, err = s.ownTest(c, t.Expect)
		}
		if err == nil && got == "accepted" && t.Expect == "accepted" && len(s.samples) < maxSamples {
			s.samples = append(s.samples, c)
			continue
		}
		if err = errors.Join(err, c.close()); err != nil {
			return "", err
		}
	}
	if len(s.module.Manifest.Tests) == 0 {
		return "the manifest has no tests", nil
	}
	return "", nil
}

// ownTest asks one test twice and returns how it ended.
func (s *suite) ownTest(c *sample, expect string) (string, error) {
	var first *told
	for range 2 {
		now, err := s.tell(c)
		if err != nil {
			return "", err
		}
		if first != nil && *first != *now {
			s.find("deterministic", fmt.Sprintf("%s: first %s, then %s", c.name, first, now))
		}
		if first == nil {
			first = now
		}
	}
	if first.outcome != expect {
		s.find("own-test", fmt.Sprintf("%s expects %s and is %s", c.name, expect, first))
	}
	return first.outcome, nil
}

// told is what must be equal when a question is repeated.
type told struct {
	outcome, message, judge string
	exit                    int // -1 when it is in outcome
	fuel                    uint64
}

func (t *told) String() string {
	s := fmt.Sprintf("%s (", t.outcome)
	if t.exit >= 0 {
		s += fmt.Sprintf("exit code %d, ", t.exit)
	}
	s += fmt.Sprintf("%d units of fuel", t.fuel)
	if t.message != "" {
		s += fmt.Sprintf(", message %.200q", t.message)
	}
	if t.judge != "" && t.judge != t.message {
		s += fmt.Sprintf(", for staff %.200q", t.judge)
	}
	return s + ")"
}

// tell asks about the output of a sample.
func (s *suite) tell(c *sample) (*told, error) {
	o, err := s.check(c, c.output)
	return s.told(o, err)
}

// told takes what must be equal from an answer. The error is one that is not the guest's.
func (s *suite) told(o plugin.Opinion, err error) (*told, error) {
	f, err := fault(err)
	switch {
	case err != nil:
		return nil, err
	case f != nil && s.failed(f):
		return &told{outcome: "failed", judge: f.Message, fuel: f.Fuel, exit: -1}, nil
	case f != nil:
		return &told{outcome: f.Err.Error(), judge: f.Message, fuel: f.Fuel, exit: -1}, nil //nolint:nilerr // the guest's fault is an answer
	}
	return &told{string(o.Outcome), o.Message, o.JudgeMessage, o.Exit, o.Fuel}, nil
}

// failed reports whether a checker ended by itself without an opinion, which is how it says that the judges' side
// failed. In icpc/1 every exit code but two says so.
func (s *suite) failed(f *plugin.Error) bool {
	return errors.Is(f, plugin.ErrFailed) || s.module.Manifest.Protocol == abi.ICPC1 && errors.Is(f, plugin.ErrContract)
}

// repeats is how often the same question is asked.
const repeats = 5

// determinism asks the same questions several times at once, so that several instances answer.
func (s *suite) determinism() (string, error) {
	c, err := s.any()
	if err != nil {
		return "", err
	}
	wrong := *c
	wrong.output = append([]byte("something else "), c.output...)
	for _, q := range []*sample{c, &wrong} {
		answers := make([]*told, repeats)
		var g errgroup.Group
		for i := range answers {
			g.Go(func() error {
				var err error
				answers[i], err = s.tell(q)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return "", err
		}
		for _, a := range answers[1:] {
			if *a != *answers[0] {
				s.find("deterministic", fmt.Sprintf("%s: once %s, once %s", q.name, answers[0], a))
				break
			}
		}
	}
	return "", nil
}

// equal checks the claim equal_accepts with right answers and with outputs that are hostile.
func (s *suite) equal() (string, error) {
	if !s.module.Manifest.EqualAccepts {
		return "the manifest does not claim equal_accepts", nil
	}
	c, err := s.any()
	if err != nil {
		return "", err
	}
	try := func(c *sample, name string, text []byte, strict bool) error {
		o, err := s.checkAnswer(c, text)
		f, err := fault(err)
		switch {
		case err != nil:
			return err
		case f != nil && !strict:
			return nil // it is no answer to this checker, so the promise was not asked
		case f != nil:
			s.find("equal-accepts", fmt.Sprintf("%s as output and answer: %v", name, f.Err))
		case o.Outcome != plugin.Accepted:
			s.find("equal-accepts", fmt.Sprintf("%s as output and answer is %s: %s", name, o.Outcome, o.Message))
		}
		return nil
	}
	for _, c := range s.samples {
		if err := try(c, "the answer of "+c.name, c.answer, true); err != nil {
			return "", err
		}
	}
	all, err := s.hostileOutputs(c)
	if err != nil {
		return "", err
	}
	for _, h := range all {
		if h.size > maxSampleBytes {
			continue
		}
		text, err := io.ReadAll(h.reader())
		if err != nil {
			return "", err
		}
		if err := try(c, h.name, text, false); err != nil {
			return "", err
		}
	}
	return "", nil
}
