package samples

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// test is a test that is written when the package is opened.
type test struct {
	name  string // below data, without the ending
	write func(*random) (input, answer []byte)
}

// tests are the written tests of each problem.
var tests = map[string][]test{
	"schedule": {
		{"secret/11-chain", func(*random) (in, ans []byte) { return schedule(jobs, chain(jobs)) }},
		{"secret/12-chain-backwards", func(*random) (in, ans []byte) { return schedule(jobs, backwards(jobs, chain(jobs))) }},
		{"secret/13-random", func(r *random) (in, ans []byte) { return schedule(jobs, randomRules(r, jobs, 2*jobs)) }},
		{"secret/14-random-circle", func(r *random) (in, ans []byte) {
			rules := randomRules(r, jobs, 2*jobs-1)
			return schedule(jobs, append(rules, [2]int{rules[7][1], rules[7][0]}))
		}},
		{"secret/15-star", func(*random) (in, ans []byte) { return schedule(jobs, star(jobs)) }},
		{"secret/16-great-circle", func(*random) (in, ans []byte) {
			return schedule(jobs, append(chain(jobs), [2]int{jobs, 1}))
		}},
	},
	"lockers": {
		{"secret/11-few-lockers", func(r *random) (in, ans []byte) { return lockers(r.numbers(notes, 1, 999)) }},
		{"secret/12-many-lockers", func(r *random) (in, ans []byte) { return lockers(r.numbers(notes, 100_000_000, 1_000_000_000)) }},
		{"secret/13-one-locker", func(*random) (in, ans []byte) { return lockers(slices.Repeat([]int{7}, notes)) }},
	},
	"boxes": {
		{"secret/11-deep", func(*random) (in, ans []byte) { return boxes(nest("(", ")", boxChars/2)) }},
		{"secret/12-deep-second", func(*random) (in, ans []byte) { return boxes(nest("(()", ")", boxChars/4)) }},
		{"secret/13-deep-first", func(*random) (in, ans []byte) { return boxes(nest("(", "())", boxChars/4)) }},
		{"secret/14-wide", func(*random) (in, ans []byte) { return boxes("(" + strings.Repeat("()", boxChars/2-1) + ")") }},
		{"secret/15-random", func(r *random) (in, ans []byte) { return boxes(randomBoxes(r, boxChars/2)) }},
	},
	"pairs": {
		{"secret/group1/11-random", func(r *random) (in, ans []byte) { return pairs(3, r.numbers(100, 0, 50)) }},
		{"secret/group1/12-large-numbers", func(r *random) (in, ans []byte) { return pairs(97, r.numbers(99, 0, 1_000_000_000)) }},
		{"secret/group2/10-from-group-1", func(*random) (in, ans []byte) {
			return pairs(3, newRandom("secret/group1/11-random").numbers(100, 0, 50))
		}},
		{"secret/group2/11-random", func(r *random) (in, ans []byte) { return pairs(10, r.numbers(2000, 0, 1000)) }},
		{"secret/group2/12-large-numbers", func(r *random) (in, ans []byte) { return pairs(1009, r.numbers(1999, 0, 1_000_000_000)) }},
		{"secret/group2/13-one-rest", func(*random) (in, ans []byte) { return pairs(2, slices.Repeat([]int{999_999_999}, 2000)) }},
		{"secret/group3/10-from-group-2", func(*random) (in, ans []byte) {
			return pairs(10, newRandom("secret/group2/11-random").numbers(2000, 0, 1000))
		}},
		{"secret/group3/11-random", func(r *random) (in, ans []byte) { return pairs(1000, r.numbers(bags, 0, 1_000_000_000)) }},
		{"secret/group3/12-one-child", func(r *random) (in, ans []byte) { return pairs(1, r.numbers(bags, 0, 1_000_000_000)) }},
		{"secret/group3/13-many-children", func(r *random) (in, ans []byte) { return pairs(99_991, r.numbers(bags, 0, 1_000_000_000)) }},
	},
}

// The largest sizes that the statements allow.
const (
	jobs     = 100_000
	notes    = 1_000_000
	boxChars = 1_000_000
	bags     = 200_000
)

// list is a test's text of numbers.
type list struct{ bytes.Buffer }

func (l *list) line(xs ...int) {
	for i, x := range xs {
		if i > 0 {
			l.WriteByte(' ')
		}
		l.Write(strconv.AppendInt(l.AvailableBuffer(), int64(x), 10))
	}
	l.WriteByte('\n')
}

// schedule writes a test of rules, each of which is a pair of jobs.
func schedule(n int, rules [][2]int) (input, answer []byte) {
	var in, ans list
	in.line(n, len(rules))
	later := make([][]int, n+1)
	waits := make([]int, n+1)
	for _, r := range rules {
		in.line(r[0], r[1])
		later[r[0]] = append(later[r[0]], r[1])
		waits[r[1]]++
	}
	order := make([]int, 0, n)
	for job := 1; job <= n; job++ {
		if waits[job] == 0 {
			order = append(order, job)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, job := range later[order[i]] {
			if waits[job]--; waits[job] == 0 {
				order = append(order, job)
			}
		}
	}
	if len(order) < n {
		ans.WriteString("impossible\n")
	} else {
		ans.line(order...)
	}
	return in.Bytes(), ans.Bytes()
}

func chain(n int) [][2]int {
	var rules [][2]int
	for job := 1; job < n; job++ {
		rules = append(rules, [2]int{job, job + 1})
	}
	return rules
}

// backwards numbers the jobs from the other end.
func backwards(n int, rules [][2]int) [][2]int {
	for i, r := range rules {
		rules[i] = [2]int{n + 1 - r[0], n + 1 - r[1]}
	}
	return rules
}

// star has one job in the middle that waits for half of the others and lets the other half wait.
func star(n int) [][2]int {
	var rules [][2]int
	middle := n / 2
	for job := 1; job <= n; job++ {
		switch {
		case job < middle:
			rules = append(rules, [2]int{middle, job})
		case job > middle:
			rules = append(rules, [2]int{job, middle})
		}
	}
	return rules
}

// randomRules makes m rules that can be kept.
func randomRules(r *random, n, m int) [][2]int {
	order := make([]int, n)
	for i := range order {
		order[i] = i + 1
	}
	r.shuffle(order)
	rules := make([][2]int, 0, m)
	for len(rules) < m {
		a, b := r.below(n), r.below(n)
		if a < b {
			rules = append(rules, [2]int{order[a], order[b]})
		}
	}
	return rules
}

// lockers writes a test of notes.
func lockers(xs []int) (input, answer []byte) {
	var in, ans list
	in.line(len(xs))
	in.line(xs...)
	counts := map[int]int{}
	best, most := 0, 0
	for _, x := range xs {
		counts[x]++
		if c := counts[x]; c > most || c == most && x < best {
			best, most = x, c
		}
	}
	ans.line(best, most)
	return in.Bytes(), ans.Bytes()
}

// boxes writes a test of a box.
func boxes(text string) (input, answer []byte) {
	const modulus = 1_000_000_007
	type box struct{ place, worth int }
	open := []box{{}}
	for _, c := range text {
		if c == '(' {
			open = append(open, box{worth: 1})
			continue
		}
		inner := open[len(open)-1]
		open = open[:len(open)-1]
		outer := &open[len(open)-1]
		outer.place++
		outer.worth = (outer.worth + outer.place*inner.worth) % modulus
	}
	var ans list
	ans.line(open[0].worth)
	return []byte(text + "\n"), ans.Bytes()
}

// nest puts boxes into each other.
func nest(left, right string, depth int) string {
	return strings.Repeat(left, depth) + strings.Repeat(right, depth)
}

// randomBoxes opens and closes n boxes at random, one of them around all.
func randomBoxes(r *random, n int) string {
	text := make([]byte, 0, 2*n)
	text = append(text, '(')
	opened, depth := 1, 1
	for opened < n {
		// A box is opened a little more often than closed.
		if depth == 1 || r.below(100) < 52 {
			text = append(text, '(')
			opened++
			depth++
		} else {
			text = append(text, ')')
			depth--
		}
	}
	return string(text) + strings.Repeat(")", depth)
}

// pairs writes a test of bags.
func pairs(k int, xs []int) (input, answer []byte) {
	var in, ans list
	in.line(len(xs), k)
	in.line(xs...)
	seen := map[int]int{}
	count := 0
	for _, x := range xs {
		count += seen[(k-x%k)%k]
		seen[x%k]++
	}
	ans.line(count)
	return in.Bytes(), ans.Bytes()
}
