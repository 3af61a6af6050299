package samples

import "hash/fnv"

// random is a small generator of numbers that gives the same ones everywhere
// and forever, which the standard library does not promise.
type random struct{ state uint64 }

// newRandom returns the generator that belongs to a name.
func newRandom(name string) *random {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return &random{h.Sum64()}
}

// next is SplitMix64.
func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// numbers returns n numbers from low to high.
func (r *random) numbers(n, low, high int) []int {
	xs := make([]int, n)
	for i := range xs {
		xs[i] = low + r.below(high-low+1)
	}
	return xs
}

// shuffle puts xs in another order.
func (r *random) shuffle(xs []int) {
	for i := len(xs) - 1; i > 0; i-- {
		j := r.below(i + 1)
		xs[i], xs[j] = xs[j], xs[i]
	}
}
