package sandbox_test

import (
	"testing"

	"deepoj/sandbox"
)

// leftovers are what leftover.c can leave, by what must hold.
var leftovers = map[string]string{
	"a file in /tmp":                              "file",
	"a file in /dev/shm":                          "shared-file",
	"two thousand folders in each other":          "folders",
	"a named pipe":                                "pipe",
	"a socket in /tmp with a server":              "socket",
	"an abstract socket with a server":            "abstract-socket",
	"a deleted file that a process holds open":    "deleted-file",
	"processes that ignore every signal":          "processes",
	"a process that is stopped":                   "stopped-process",
	"zombies and their parent":                    "zombies",
	"a process with two hundred descriptors":      "descriptors",
	"a file that is mapped":                       "mapped-file",
	"most of its memory in files":                 "memory",
	"another file mode mask and another priority": "settings",
}

func TestARunLeavesNothingForTheNext(t *testing.T) { onEveryDriver(t, aRunLeavesNothingForTheNext) }

func aRunLeavesNothingForTheNext(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "leftover", sandbox.BoxOptions{})
	limits := generous
	limits.MemoryBytes = 64 * mib
	for name, kind := range leftovers {
		t.Run(name+" is gone", func(t *testing.T) {
			for range 2 { // also after the first was cleaned away
				if o := b.run(t, limits, "leave", kind); o.Verdict != sandbox.OK {
					t.Errorf("ended %v", o)
				}
				if left := strangers(t, driverUID); len(left) != 0 {
					t.Errorf("the host still has %v", left)
				}
			}
		})
	}
	t.Run("nothing of a box is in the next one", func(t *testing.T) {
		for range 4 { // more boxes than slots
			b, err := a.OpenBox(t.Context(), sandbox.BoxOptions{Writable: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Put(t.Context(), hostile(t, "leftover")); err != nil {
				t.Fatal(err)
			}
			if o := run(t, b, sandbox.Cmd{Program: "./leftover", Args: []string{"look"}, Limits: generous}); o.Verdict != sandbox.OK || o.stdout != "" {
				t.Errorf("it found %v", o)
			}
			for _, kind := range []string{"box-file", "file", "processes"} {
				if o := run(t, b, sandbox.Cmd{Program: "./leftover", Args: []string{"leave", kind}, Limits: generous}); o.Verdict != sandbox.OK {
					t.Errorf("ended %v", o)
				}
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
