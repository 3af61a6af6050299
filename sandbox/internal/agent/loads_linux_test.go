package agent

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestABoxIsOpenedOnTheCoreWithTheFewestBoxes(t *testing.T) {
	const cores = 3
	s := loads{boxes: make([]int, cores)}
	var taken [cores]int
	for range 1000 {
		if core := rand.IntN(cores); taken[core] > 0 && rand.IntN(2) == 0 {
			s.remove(core)
			taken[core]--
			continue
		}
		core := s.add()
		if taken[core] != slices.Min(taken[:]) {
			t.Fatalf("a box is opened on core %d where the cores have %v", core, taken)
		}
		taken[core]++
	}
}
