package queue_test

import "strings"

// explore looks at every state that can be reached, or until one is unsafe if
// hasty. Either text tells how to get to a bad one.
func (d design) explore(hasty bool) (states int, unsafeAt, stuckAt string) {
	first := state{row: rowReady, returned: d.small}
	if d.small {
		first.entries[1] = entrySkipped
	}
	index := map[state]int{first: 0}
	all := []state{first}
	type origin struct {
		from int
		step step
	}
	origins := []origin{{from: -1}}
	before := [][]int{nil} // without faults
	story := func(i int, what string) string {
		var lines []string
		for ; i > 0; i = origins[i].from {
			lines = append([]string{origins[i].step.String()}, lines...)
		}
		return what + " after: " + strings.Join(lines, "; ")
	}
	for i := 0; i < len(all); i++ {
		if what := unsafe(all[i]); what != "" && unsafeAt == "" {
			unsafeAt = story(i, what)
			if hasty {
				return len(all), unsafeAt, ""
			}
		}
		for _, st := range d.steps(all[i]) {
			j, known := index[st.to]
			if !known {
				j = len(all)
				index[st.to] = j
				all, origins, before = append(all, st.to), append(origins, origin{i, st}), append(before, nil)
			}
			if !st.fault {
				before[j] = append(before[j], i)
			}
		}
	}
	good := make([]bool, len(all))
	var queue []int
	for i, s := range all {
		if s.status >= finished {
			good[i] = true
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, p := range before[i] {
			if !good[p] {
				good[p] = true
				queue = append(queue, p)
			}
		}
	}
	for i := range all {
		if !good[i] {
			return len(all), unsafeAt, story(i, "stuck")
		}
	}
	return len(all), unsafeAt, ""
}
