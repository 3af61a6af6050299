package spawn

//go:noescape
func forkSteps(args *cloneArgs, size uintptr, steps *step, n uintptr, failed *stepFailure) (pid, errno uintptr)
