// Visits jobs depth first and prints them in the reverse order of leaving.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	n, m := number(in), number(in)
	next := make([][]int, n+1)
	for range m {
		a, b := number(in), number(in)
		next[a] = append(next[a], b)
	}
	const entered, left = 1, 2
	state := make([]int, n+1)
	order := make([]int, 0, n)
	circle := false
	var visit func(int)
	visit = func(job int) {
		state[job] = entered
		for _, later := range next[job] {
			switch state[later] {
			case entered:
				circle = true
			case 0:
				visit(later)
			}
		}
		state[job] = left
		order = append(order, job)
	}
	for job := 1; job <= n; job++ {
		if state[job] == 0 {
			visit(job)
		}
	}
	if circle {
		fmt.Fprintln(out, "impossible")
		return
	}
	for i := len(order) - 1; i >= 0; i-- {
		fmt.Fprint(out, order[i], " ")
	}
}

func number(in *bufio.Reader) int {
	n := 0
	c, _ := in.ReadByte()
	for c < '0' {
		c, _ = in.ReadByte()
	}
	for ; c >= '0'; c, _ = in.ReadByte() {
		n = 10*n + int(c-'0')
	}
	return n
}
