package plugin

// WorkerPIDs returns the process numbers of the workers.
func (r *Runtime) WorkerPIDs() []int {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	var pids []int
	for w := range r.pool.all {
		pids = append(pids, w.process.cmd.Process.Pid)
	}
	return pids
}

// Confine forbids this process what children are forbidden.
func Confine() error { return confine(true) }

// LandlockAlone puts up the one wall, and returns the version of the kernel's interface.
func LandlockAlone() (int, error) { return landlockVersion(), walls{}.landlock() }
