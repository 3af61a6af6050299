// Counts in 32 bits: too few for the last group.
// @EXPECTED_SCORE@: 50
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	n, k := number(in), number(in)
	seen := make(map[int]int32, n)
	var pairs int32
	for range n {
		rest := number(in) % k
		pairs += seen[(k-rest)%k]
		seen[rest]++
	}
	fmt.Println(pairs)
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
