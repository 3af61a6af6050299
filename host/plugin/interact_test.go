package plugin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// bisect is a program that guesses rightly.
func bisect(in io.Reader, out io.Writer) {
	low, high, said := 0, 1000, bufio.NewScanner(in)
	for {
		guess := (low + high) / 2
		fmt.Fprintln(out, guess)
		if !said.Scan() || said.Text() == "right" {
			return
		}
		if said.Text() == "more" {
			low = guess + 1
		} else {
			high = guess - 1
		}
	}
}

// talk has the interactor of testdata/guess.c talk with a program, which is run
// by this process and has seen the end of its input when talk returns.
func talk(t *testing.T, protocol abi.Protocol, program func(in *os.File, out *os.File), patience time.Duration, flags ...string) (plugin.Judgement, error) {
	t.Helper()
	r := open(t, plugin.Config{FuelM: 5000})
	m, err := r.Load(t.Context(), buildC(t, "guess"), &abi.Manifest{
		Judge: abi.Version, Kind: abi.Interactor, Name: "org.example.guess", Version: "1", Protocol: protocol,
	})
	if err != nil {
		t.Fatal(err)
	}
	from, speaks := pipe(t)
	listens, to := pipe(t)
	ended := make(chan struct{})
	j, err := r.Interact(t.Context(), m, plugin.Interaction{
		Input: file(t, "777\n"), Answer: file(t, ""), From: from, To: to, Args: flags, Patience: patience,
		Started: func() {
			go func() {
				defer close(ended)
				program(listens, speaks)
				speaks.Close()
				io.Copy(io.Discard, listens) // ends when the interactor has
				listens.Close()
			}()
		},
	})
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the program never sees the end of its input")
	}
	return j, err
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

func TestAnInteractorTalksWithAProgram(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		program func(in, out *os.File)
		want    plugin.Outcome
		first   bool // the program is first to stop talking
	}{
		"that is right":                   {func(in, out *os.File) { bisect(in, out) }, plugin.Accepted, false},
		"that never guesses it":           {func(in, out *os.File) { fmt.Fprint(out, "1\n2\n3\n") }, plugin.Wrong, true},
		"that says nothing":               {func(_, _ *os.File) {}, plugin.Wrong, true},
		"that does not listen":            {func(in, out *os.File) { in.Close(); fmt.Fprint(out, "1\n2\n777\n") }, plugin.Accepted, false},
		"that says what is not a number":  {func(in, out *os.File) { fmt.Fprint(out, "many\n") }, plugin.Wrong, false},
		"that speaks when nobody listens": {func(_, out *os.File) { fmt.Fprint(out, "777\n"); io.CopyN(out, zeros{}, 1<<20) }, plugin.Accepted, false},
	}
	for name, tt := range tests {
		for _, protocol := range []abi.Protocol{abi.ICPC1, abi.Testlib1} {
			t.Run(name+" in "+string(protocol), func(t *testing.T) {
				t.Parallel()
				before := time.Now()
				j, err := talk(t, protocol, tt.program, time.Minute)
				if err != nil || j.Outcome != tt.want || j.Fuel == 0 || (j.HeardEnd > 0) != tt.first || j.Ended < max(j.HeardEnd, 1) {
					t.Errorf("%+v, %v after %s", j, err, time.Since(before))
				}
				if name == "that is right" && !strings.HasPrefix(j.Talk, "> 500\n< more\n> 750\n< more\n") {
					t.Errorf("the conversation begins with %.60q", j.Talk)
				}
				if wrote := len(j.Tout) > 0; wrote != (protocol == abi.Testlib1 && tt.want == plugin.Accepted) {
					t.Errorf("for the checker it wrote %q", j.Tout)
				}
			})
		}
	}
}

// zeros is an endless output.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestAnInteractorThatFailsLetsTheProgramGo(t *testing.T) {
	t.Parallel()
	waits := func(in, _ *os.File) { io.Copy(io.Discard, in) }
	tests := map[string]struct {
		flag     string
		program  func(in, out *os.File)
		patience time.Duration
		want     error
	}{
		"by a trap":                {"trap", waits, time.Minute, plugin.ErrTrap},
		"by using up its fuel":     {"spin", waits, time.Minute, plugin.ErrFuel},
		"by waiting for ever":      {"", func(in, _ *os.File) { io.Copy(io.Discard, in) }, 2 * time.Second, plugin.ErrPatience},
		"by saying more than much": {"flood", waits, time.Minute, plugin.ErrOutput},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var flags []string
			if tt.flag != "" {
				flags = []string{tt.flag}
			}
			j, err := talk(t, abi.ICPC1, tt.program, tt.patience, flags...)
			if fault, ok := errors.AsType[*plugin.Error](err); !ok || !errors.Is(fault, tt.want) {
				t.Errorf("%+v, %v; want %v", j, err, tt.want)
			}
		})
	}
	t.Run("one that ends without a word does as well", func(t *testing.T) {
		t.Parallel()
		if j, err := talk(t, abi.ICPC1, waits, time.Minute, "silent"); err != nil || j.Outcome != plugin.Wrong {
			t.Errorf("%+v, %v", j, err)
		}
	})
}

func TestAnInteractionThatCannotBeginClosesItsPipes(t *testing.T) {
	t.Parallel()
	r := open(t, plugin.Config{})
	m, err := r.Load(t.Context(), buildC(t, "guess"), &abi.Manifest{Judge: abi.Version, Kind: abi.Interactor, Name: "org.example.guess", Version: "1", Protocol: abi.ICPC1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	from, speaks := pipe(t)
	listens, to := pipe(t)
	defer speaks.Close()
	defer listens.Close()
	_, err = r.Interact(ctx, m, plugin.Interaction{
		Input: file(t, "1"), Answer: file(t, ""), From: from, To: to, Patience: time.Minute, Started: func() {},
	})
	if err == nil {
		t.Error("it was asked though its context had ended")
	}
	if n, err := listens.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the pipe is open: read %d, %v", n, err)
	}
	if _, err := r.Interact(t.Context(), m, plugin.Interaction{}); err == nil {
		t.Error("an interaction without files was asked")
	}
}
