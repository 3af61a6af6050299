package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	n := number(in)
	counts := make(map[int]int, 1<<20)
	best, most := 0, 0
	for range n {
		locker := number(in)
		counts[locker]++
		if c := counts[locker]; c > most || c == most && locker < best {
			best, most = locker, c
		}
	}
	fmt.Println(best, most)
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
