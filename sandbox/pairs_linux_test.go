package sandbox_test

import (
	"slices"
	"testing"
)

// pairs returns choices, one value for each of several dimensions with so many values,
// such that any two values of any two dimensions are chosen together at least once.
// They are always the same. Each is as good as can be at the time: it begins with a
// pair that is still missing, and takes in every dimension the value that makes the
// most of those that are.
func pairs(sizes []int) [][]int {
	missing := map[[4]int]bool{} // dimension, value, later dimension, value
	var order [][4]int
	for a, n := range sizes {
		for b, m := range sizes[a+1:] {
			for v := range n {
				for w := range m {
					p := [4]int{a, v, a + 1 + b, w}
					missing[p] = true
					order = append(order, p)
				}
			}
		}
	}
	var chosen [][]int
	for _, p := range order {
		if !missing[p] {
			continue
		}
		choice := make([]int, len(sizes))
		for d := range choice {
			choice[d] = -1
		}
		choice[p[0]], choice[p[2]] = p[1], p[3]
		for d, n := range sizes {
			if choice[d] >= 0 {
				continue
			}
			best, most := 0, -1
			for i := range n {
				v := (i + len(chosen)) % n // when all are as good, each gets its turn
				choice[d] = v
				if made := countMissing(missing, choice); made > most {
					best, most = v, made
				}
			}
			choice[d] = best
		}
		eachPair(choice, func(p [4]int) { delete(missing, p) })
		chosen = append(chosen, choice)
	}
	return chosen
}

// eachPair calls f with the pairs of a choice. A negative value is none.
func eachPair(choice []int, f func([4]int)) {
	for a, v := range choice {
		for b, w := range choice[a+1:] {
			if v >= 0 && w >= 0 {
				f([4]int{a, v, a + 1 + b, w})
			}
		}
	}
}

func countMissing(missing map[[4]int]bool, choice []int) (n int) {
	eachPair(choice, func(p [4]int) {
		if missing[p] {
			n++
		}
	})
	return n
}

// product returns all choices.
func product(sizes []int) [][]int {
	all := [][]int{nil}
	for _, n := range sizes {
		var longer [][]int
		for _, choice := range all {
			for v := range n {
				longer = append(longer, append(slices.Clone(choice), v))
			}
		}
		all = longer
	}
	return all
}

func TestAnyTwoValuesAreChosenTogether(t *testing.T) {
	for _, sizes := range [][]int{{2, 2}, {3, 1, 2}, {2, 3, 4, 5}, {24, 10, 7, 3, 2}, {1, 1, 1}, {5}} {
		chosen := pairs(sizes)
		seen := map[[4]int]bool{}
		for _, choice := range chosen {
			for d, v := range choice {
				if v < 0 || v >= sizes[d] {
					t.Fatalf("of %v, %v is no choice", sizes, choice)
				}
			}
			eachPair(choice, func(p [4]int) { seen[p] = true })
		}
		whole := product(sizes)
		want := map[[4]int]bool{}
		for _, choice := range whole {
			eachPair(choice, func(p [4]int) { want[p] = true })
		}
		if len(seen) != len(want) {
			t.Errorf("of %v, %d pairs are chosen of %d", sizes, len(seen), len(want))
		}
		if !slices.EqualFunc(chosen, pairs(sizes), slices.Equal) {
			t.Errorf("of %v, what is chosen is not always the same", sizes)
		}
		if least := leastPairs(sizes); len(chosen) > 2*least {
			t.Errorf("of %v, %d are chosen where %d might do", sizes, len(chosen), least)
		}
	}
}

// leastPairs is how many choices there are at least: all pairs of the two largest
// dimensions.
func leastPairs(sizes []int) int {
	s := slices.Sorted(slices.Values(append([]int{1, 1}, sizes...)))
	return s[len(s)-1] * s[len(s)-2]
}
