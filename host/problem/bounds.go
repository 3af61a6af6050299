package problem

// MaxTestFile bounds a file for the working directory of programs, in bytes.
const MaxTestFile = 64 << 20

// MaxCPUSeconds is the longest limit of CPU time that this platform can honour.
const MaxCPUSeconds = 600

// What a package may be at most. They bound the work of reading a hostile one.
const (
	MaxFiles   = 200_000  // and folders, each as often as links lead to it
	MaxBytes   = 4 << 30  // of all its files together, each as often as links lead to it
	MaxSample  = 64 << 10 // bytes of a sample that are shown
	MaxSamples = 4 << 20  // bytes that are shown of all samples
)
