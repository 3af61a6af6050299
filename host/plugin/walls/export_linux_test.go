package walls

import "deepoj/sandbox/landlock"

// Confine forbids this process what children are forbidden.
func Confine() error { return confine(true) }

// LandlockAlone puts up the one wall, and returns the version of the kernel's interface.
func LandlockAlone() (int, error) { return landlock.Version(), Confinement{}.landlock() }
