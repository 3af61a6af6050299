package languagestest

import (
	"iter"
	"math/rand/v2"
	"strings"
)

// Texts yields many texts made of a few pieces each, always the same ones, for tests that compare two ways of reading
// what a compiler says.
func Texts(pieces ...string) iter.Seq[string] {
	const texts, most = 30_000, 12
	random := rand.New(rand.NewPCG(uint64(len(pieces)), 1)) //nolint:gosec // the same texts every time
	return func(yield func(string) bool) {
		for range texts {
			var b strings.Builder
			for range random.IntN(most) {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
			if !yield(b.String()) {
				return
			}
		}
	}
}
