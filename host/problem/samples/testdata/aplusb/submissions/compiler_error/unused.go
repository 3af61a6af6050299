package main

// @EXPECTED_RESULTS@: COMPILER-ERROR
import "fmt"

func main() {
}
