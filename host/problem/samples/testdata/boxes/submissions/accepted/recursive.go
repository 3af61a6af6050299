package main

import (
	"bufio"
	"fmt"
	"os"
)

const modulus = 1_000_000_007

func main() {
	in := bufio.NewReader(os.Stdin)
	in.ReadByte()
	fmt.Println(worth(in))
}

// worth reads a box whose opening parenthesis was read.
func worth(in *bufio.Reader) int {
	total := 1
	for place := 1; ; place++ {
		if c, _ := in.ReadByte(); c != '(' {
			return total
		}
		total = (total + place*worth(in)) % modulus
	}
}
