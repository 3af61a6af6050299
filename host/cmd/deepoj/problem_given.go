package main

import (
	"flag"
	"fmt"
	"math"
	"strconv"

	"deepoj/host/judge"
)

// givenFlags are the flags that say of a problem what a folder of tests, or an
// init.yml, does not.
func givenFlags(f *flag.FlagSet) *judge.Given {
	g := &judge.Given{}
	f.StringVar(&g.Title, "title", "", "title of a folder of tests or DMOJ problem that has none in its deepoj.yaml; its short name when empty")
	f.Func("time", "time limit of such a problem in `seconds`; 2 when missing", func(s string) error {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x >= 0.001 && x <= judge.MostGivenSeconds) {
			return fmt.Errorf("it must be from 0.001 to %d", judge.MostGivenSeconds)
		}
		g.CPUMillis = int64(math.Round(x * 1000))
		return nil
	})
	f.Func("memory", "memory limit of such a problem in `MiB`; 256 when missing", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 || n > judge.MostGivenMiB {
			return fmt.Errorf("it must be a whole number from 1 to %d", judge.MostGivenMiB)
		}
		g.MemoryMiB = n
		return nil
	})
	return g
}

// checkGiven reports what of the flags no problem can have.
func checkGiven(g judge.Given) error {
	if field, err := g.Check(); err != nil {
		return fmt.Errorf("--%s: %w", field, err)
	}
	return nil
}
