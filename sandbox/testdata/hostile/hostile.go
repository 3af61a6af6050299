// What hostile programs do in Go. Usage: hostile WAY
package main

import (
	"os"
	"runtime"
	"syscall"
)

var sink any

func recursion(n int) int {
	var frame [64]int
	frame[n%64] = n
	return recursion(n+1) + frame[(n+1)%64]
}

func connect(address [4]byte, port int) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrInet4{Addr: address, Port: port})
	}
	if err == nil {
		println("worked")
	} else {
		println("failed")
	}
}

func main() {
	switch os.Args[1] {
	case "threads": // until there may be no more, which is fatal
		for {
			go func() {
				runtime.LockOSThread()
				syscall.Pause()
			}()
			runtime.Gosched()
		}
	case "goroutines":
		for {
			go func() { select {} }()
		}
	case "heap":
		var kept [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
	case "recursion":
		recursion(0)
	case "spin":
		for range 4 {
			go func() {
				for {
				}
			}()
		}
		select {}
	case "collect": // garbage without end, for the collector's threads
		for range 2 {
			go func() {
				for {
					kept := make([][]byte, 0, 10000)
					for range cap(kept) {
						kept = append(kept, make([]byte, 64))
					}
					sink = kept
				}
			}()
		}
		for {
			runtime.GC()
		}
	case "fork-bomb":
		for {
			_, _ = syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{})
		}
	case "sockets":
		connect([4]byte{127, 0, 0, 1}, 22)
		connect([4]byte{192, 0, 2, 1}, 80)
	default:
		os.Exit(9)
	}
}
