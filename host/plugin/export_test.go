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
