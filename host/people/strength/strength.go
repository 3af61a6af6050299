// Package strength says how easily a password is guessed, by zxcvbn-ts and its lists of common passwords, words and names.
package strength

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// dist holds zxcvbn, which `make build` makes.
//
//go:embed dist
var dist embed.FS

const (
	mostLooked  = 24               // characters of a password that are looked at: the work grows faster than they
	mostTime    = 10 * time.Second // of one password
	mostCalls   = 2000             // functions in functions
	mostWords   = 20               // that belong to whose password it is
	mostLetters = 100              // of such a word
)

// ErrNotBuilt says that the program was made without the library.
var ErrNotBuilt = errors.New("what knows weak passwords is not built: run make build")

// Score is how hard a password is to guess: each is some 100 to 1,000 times as hard as the one below.
type Score int

// The scores of zxcvbn.
const (
	Common   Score = iota // on a list, or nearly: fewer than 1,000 guesses
	Weak                  // fewer than a million
	Fair                  // fewer than a hundred million: no match for who tries online, slowed down
	Strong                // fewer than ten thousand million
	Stronger              // more
)

// guesser is the library, loaded once. It is not safe for several callers at once.
type guesser struct {
	mu   sync.Mutex
	vm   *goja.Runtime
	call goja.Callable
}

var loaded = sync.OnceValues(load)

func load() (*guesser, error) {
	packed, err := dist.ReadFile("dist/zxcvbn.js.gz")
	if err != nil {
		return nil, ErrNotBuilt
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack zxcvbn: %w", err)
	}
	source, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpack zxcvbn: %w", err)
	}
	program, err := goja.Compile("zxcvbn.js", string(source), true)
	if err != nil {
		return nil, fmt.Errorf("read zxcvbn: %w", err)
	}
	g := &guesser{vm: goja.New()}
	g.vm.SetMaxCallStackSize(mostCalls)
	if _, err := g.vm.RunProgram(program); err != nil {
		return nil, fmt.Errorf("load zxcvbn: %w", err)
	}
	call, ok := goja.AssertFunction(g.vm.Get("guesses"))
	if !ok {
		return nil, errors.New("load zxcvbn: it has no function")
	}
	g.call = call
	return g, nil
}

// Of says how hard a password is to guess for somebody who knows the words: names and addresses of its owner.
func Of(password string, words ...string) (Score, error) {
	g, err := loaded()
	if err != nil {
		return 0, err
	}
	password = first(password, mostLooked)
	known := []string{}
	for _, w := range words {
		if w != "" && len(known) < mostWords {
			known = append(known, first(w, mostLetters))
		}
	}
	list, err := json.Marshal(known)
	if err != nil {
		return 0, fmt.Errorf("write words: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	timer := time.AfterFunc(mostTime, func() { g.vm.Interrupt(context.DeadlineExceeded) })
	value, err := g.call(goja.Undefined(), g.vm.ToValue(password), g.vm.ToValue(string(list)))
	if !timer.Stop() {
		g.vm.ClearInterrupt()
	}
	if err != nil {
		return 0, fmt.Errorf("weigh a password: %w", err)
	}
	return Score(value.ToInteger()), nil
}

// first is the first n characters of a text.
func first(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n])
}
