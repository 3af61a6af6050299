package plugin_test

import (
	"errors"
	"strings"
	"testing"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// probe loads the checker that does what its arguments say.
func probe(t *testing.T, cfg plugin.Config) (*plugin.Runtime, *plugin.Module) {
	t.Helper()
	wasm := buildC(t, "probe")
	r := open(t, cfg)
	m, err := r.Load(t.Context(), wasm, checker(abi.Testlib1, abi.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

func TestATestlibCheckerDecidesByExitStatus(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1})
	half := 0.5
	tests := map[string]struct {
		say, exit string
		want      plugin.Outcome
		score     *float64
		fails     error
	}{
		"0 accepts":                        {"ok 3 numbers", "0", plugin.Accepted, nil, nil},
		"1 rejects":                        {"differs", "1", plugin.Wrong, nil, nil},
		"2 is a presentation error":        {"no number", "2", plugin.Presentation, nil, nil},
		"4 is a presentation error":        {"extra tokens", "4", plugin.Presentation, nil, nil},
		"8 is a presentation error":        {"unexpected end", "8", plugin.Presentation, nil, nil},
		"7 gives points":                   {"points 0.5 half of it", "7", plugin.Partial, &half, nil},
		"7 gives text for a scorer":        {"points points_info=pa=1,ja=2 half of it", "7", plugin.Partial, nil, nil},
		"7 without points breaks it":       {"partly right", "7", "", nil, plugin.ErrContract},
		"7 with absurd points breaks it":   {"points NaN", "7", "", nil, plugin.ErrContract},
		"7 with negative points breaks it": {"points -1", "7", "", nil, plugin.ErrContract},
		"3 is the checker's failure":       {"answer is broken", "3", "", nil, plugin.ErrFailed},
		"any other breaks the contract":    {"hm", "77", "", nil, plugin.ErrContract},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := r.Check(t.Context(), m, check(t, "", "", "", "say", tt.say, tt.exit))
			if !errors.Is(err, tt.fails) {
				t.Fatalf("got error %v, want %v", err, tt.fails)
			}
			if fault, ok := errors.AsType[*plugin.Error](err); ok {
				if fault.Message != tt.say || fault.Call != "check" || !strings.HasPrefix(fault.Plugin, "test@") {
					t.Errorf("got %+v, want the message %q", fault, tt.say)
				}
				return
			}
			if o.Outcome != tt.want || o.Message != tt.say || o.JudgeMessage != tt.say || o.Fuel == 0 {
				t.Errorf("got %+v, want %s with message %q and fuel", o, tt.want, tt.say)
			}
			if (o.Score == nil) != (tt.score == nil) || o.Score != nil && *o.Score != *tt.score {
				t.Errorf("got score %v, want %v", o.Score, tt.score)
			}
		})
	}
}

func TestAnICPCValidatorDecidesByExitStatusAndFeedback(t *testing.T) {
	wasm := buildC(t, "validator")
	r := open(t, plugin.Config{Workers: 1, OutputKiB: 64})
	m, err := r.Load(t.Context(), wasm, checker(abi.ICPC1, abi.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("it accepts with messages", func(t *testing.T) {
		o, err := r.Check(t.Context(), m, check(t, "in", "yes", "y"))
		if err != nil || o.Outcome != plugin.Accepted || o.Score != nil || o.NextPass != nil ||
			o.Message != "well done" || o.JudgeMessage != "wanted y, got y and 2 more" {
			t.Errorf("got %+v, %v", o, err)
		}
	})
	t.Run("it rejects with a score and a next pass", func(t *testing.T) {
		o, err := r.Check(t.Context(), m, check(t, "in", "no", "y", "score", "next"))
		if err != nil || o.Outcome != plugin.Wrong || o.Score == nil || *o.Score != 12.5 || string(o.NextPass) != "again\n" || o.Message != "look again" {
			t.Errorf("got %+v, %v", o, err)
		}
	})
	t.Run("what it says on stderr is for staff", func(t *testing.T) {
		o, err := r.Check(t.Context(), m, check(t, "in", "no", "y", "quiet"))
		if err != nil || o.Message != "" || o.JudgeMessage != "on stderr" {
			t.Errorf("got %+v, %v", o, err)
		}
	})
	t.Run("it cannot make files without end", func(t *testing.T) {
		o, err := r.Check(t.Context(), m, check(t, "in", "no", "y", "files"))
		if err != nil || o.Outcome != plugin.Wrong || !strings.HasPrefix(o.JudgeMessage, "62 files") {
			t.Errorf("got %+v, %v", o, err)
		}
	})
	t.Run("what it said reaches staff when it fails", func(t *testing.T) {
		for flag, want := range map[string]string{
			"refuse": "the flag refuse is not for me\nnothing was compared",
			"trap":   "about to trap",
		} {
			_, err := r.Check(t.Context(), m, check(t, "in", "yes", "y", flag))
			fault, ok := errors.AsType[*plugin.Error](err)
			if !ok || fault.Message != want || fault.Fuel == 0 {
				t.Errorf("%s: got %+v, want the message %q", flag, err, want)
			}
		}
	})
	fails := map[string]error{
		"refuse":   plugin.ErrContract,
		"badscore": plugin.ErrContract,
		"zero":     plugin.ErrContract,
		"flood":    plugin.ErrOutput,
		"hole":     plugin.ErrOutput,
	}
	for flag, want := range fails {
		t.Run("it fails by "+flag, func(t *testing.T) {
			if o, err := r.Check(t.Context(), m, check(t, "in", "yes", "y", flag)); !errors.Is(err, want) {
				t.Errorf("got %+v, %v, want %v", o, err, want)
			}
		})
	}
}

func TestNoStateLeaksFromOneCheckToTheNext(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1})
	for range 3 {
		o, err := r.Check(t.Context(), m, check(t, "", "", "", "fill"))
		if want := "call 1, 0 bytes of somebody else, file gone"; err != nil || o.Message != want {
			t.Errorf("got %q, %v, want %q", o.Message, err, want)
		}
	}
}

func TestTheWorldOfAGuestIsItsFilesAndDeterministic(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1})
	first, err := r.Check(t.Context(), m, check(t, "a", "b", "c", "world"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"PATH unset", "entry answer", "entry input", "entry output", "read a file of the host: no", "leave the world: no",
		"read the processes: no", "write the input: no", "truncate the answer: no", "make a file: no", "make a folder: no",
		"remove the answer: no", "rename the answer: no", "link: no",
	} {
		if !strings.Contains(first.Message+"\n", line+"\n") {
			t.Errorf("it does not say %q:\n%s", line, first.Message)
		}
	}
	if n := strings.Count(first.Message, "entry "); n != 5 { // with . and ..
		t.Errorf("it sees %d entries:\n%s", n, first.Message)
	}
	second, err := r.Check(t.Context(), m, check(t, "a", "b", "c", "world"))
	if err != nil || second.Message != first.Message || second.Fuel != first.Fuel {
		t.Errorf("the second time it says\n%s\nfor %d units, the first time\n%s\nfor %d: %v", second.Message, second.Fuel, first.Message, first.Fuel, err)
	}
}

func TestAGuestReadsItsFilesAtAnyPlace(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1})
	output := strings.Repeat("a", 100_000) + "b" + strings.Repeat("a", 50_000) + "cdddd"
	o, err := r.Check(t.Context(), m, check(t, "", output, strings.Repeat("x", 65_536), "seeking"))
	if want := "cba 150006 0 150006 65536"; err != nil || o.Message != want {
		t.Errorf("got %q, %v, want %q", o.Message, err, want)
	}
}

func TestGuestsThatMisbehaveFailAndNobodyElseDoes(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1, FuelM: 200, OutputKiB: 128, MemoryMiB: 64})
	tests := map[string]struct {
		args []string
		want error
	}{
		"a loop runs out of fuel":                     {[]string{"loop"}, plugin.ErrFuel},
		"reading without end runs out of fuel":        {[]string{"reread"}, plugin.ErrFuel},
		"a trap is a trap":                            {[]string{"trap"}, plugin.ErrTrap},
		"recursion without end traps":                 {[]string{"deep", "1000000000"}, plugin.ErrTrap},
		"hoarding memory ends at the limit":           {[]string{"hoard"}, plugin.ErrMemory},
		"a flood on stdout ends at the limit":         {[]string{"stdout"}, plugin.ErrOutput},
		"a flood on stderr ends at the limit":         {[]string{"stderr"}, plugin.ErrOutput},
		"opening files without end changes nothing":   {[]string{"descriptors"}, nil},
		"recursion that C's stack can bear is no sin": {[]string{"deep", "500"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if o, err := r.Check(t.Context(), m, check(t, "", "1 2 3", "", tt.args...)); !errors.Is(err, tt.want) {
				t.Errorf("got %+v, %v, want %v", o, err, tt.want)
			}
			if o, err := r.Check(t.Context(), m, check(t, "", "", "", "say", "fine")); err != nil || o.Message != "fine" {
				t.Errorf("afterwards: %+v, %v", o, err)
			}
		})
	}
}

func TestMessagesAreCleanAndShort(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1})
	o, err := r.Check(t.Context(), m, check(t, "", "", "", "say", "a\xffb\x01\r\n\tä"))
	if want := "a\uFFFDb\uFFFD\n\tä"; err != nil || o.Message != want {
		t.Errorf("got %q, %v, want %q", o.Message, err, want)
	}
	o, err = r.Check(t.Context(), m, check(t, "", "", "", "say", strings.Repeat("ä", 40_000)))
	if err != nil || len(o.Message) != plugin.MessageMax {
		t.Errorf("got %d bytes, %v, want %d", len(o.Message), err, plugin.MessageMax)
	}
}
