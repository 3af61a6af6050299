package capacity

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Calibrate measures how fast a core is, in passes per second of CPU time: the best of some slices that last as long as
// is said together. A pass is a fixed piece of work of integers, floating point numbers and memory, about a millisecond
// on a core of 2020. The figure compares machines of one architecture, and no more.
func Calibrate(during time.Duration) (passesPerSecond float64) {
	runtime.LockOSThread() // CPU time is counted by thread
	defer runtime.UnlockOSThread()
	const slices = 10
	for range slices {
		began, passes := threadTime(), 0
		used := time.Duration(0)
		for used < during/slices || passes == 0 {
			pass()
			passes++
			used = threadTime() - began
		}
		passesPerSecond = max(passesPerSecond, float64(passes)/used.Seconds())
	}
	return passesPerSecond
}

// threadTime is the CPU time of the calling thread.
func threadTime() time.Duration {
	const rusageThread = 1 // RUSAGE_THREAD of getrusage(2)
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return time.Duration(time.Now().UnixNano()) // no Linux of Go's is without it
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// sums are what a pass finds: the same every time.
type sums struct {
	primes, inversions int
	trace              float64
}

// pass sieves the numbers below 2^16, sorts 4096 numbers, and multiplies two matrices of 48 × 48.
func pass() (s sums) {
	var composite [1 << 16]bool
	for i := 2; i < len(composite); i++ {
		if composite[i] {
			continue
		}
		s.primes++
		for j := i * i; j < len(composite); j += i {
			composite[j] = true
		}
	}
	var numbers [4096]uint32
	x := uint32(1)
	for i := range numbers {
		x ^= x << 13 // Marsaglia's xorshift
		x ^= x >> 17
		x ^= x << 5
		numbers[i] = x
		if i > 0 && numbers[i-1] > x {
			s.inversions++
		}
	}
	slices.Sort(numbers[:])
	const n = 48
	var a, b, c [n][n]float64
	for i := range n {
		for j := range n {
			a[i][j], b[i][j] = float64(i+j), float64(i*j)
		}
	}
	for i := range n {
		for j := range n {
			for k := range n {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
		s.trace += c[i][i]
	}
	return s
}

// Processor measures one core, and all at once: how much they take from each other.
func Processor(during time.Duration) ([]Figure, error) {
	alone := Calibrate(during)
	cores := runtime.NumCPU()
	rates := make([]float64, cores)
	var wg sync.WaitGroup
	for i := range rates {
		wg.Go(func() { rates[i] = Calibrate(during) })
	}
	wg.Wait()
	together := 0.0
	for _, r := range rates {
		together += r
	}
	return []Figure{
		{"calibration", alone, "passes/s", "of CPU time, one core"},
		{"calibration, all cores", together, "passes/s", fmt.Sprintf("%d cores at once: %.0f %% of as many alone", cores, 100*together/alone/float64(cores))},
	}, nil
}
