package sdk

import (
	"strconv"

	"deepoj/plugins/abi"
)

// Node returns the run of a script by Node.js under a memory limit.
func Node(script string, memoryMiB int64) abi.Step {
	return abi.Step{
		Tool: "node",
		Args: []string{
			"--max-old-space-size=" + strconv.FormatInt(memoryMiB, 10),
			"--stack-size=" + strconv.FormatInt(nodeStackKiB(memoryMiB), 10),
			script,
		},
		// Node itself takes 45 MiB and eleven threads before the first line.
		Limits:       abi.StepLimits{ExtraMemoryMiB: 128, Processes: 64},
		MemoryPolicy: "runtime+cgroup",
		MemoryExit:   `JavaScript heap out of memory|Array buffer allocation failed|FATAL ERROR:.* out of memory`,
	}
}

// nodeStackKiB lets recursion use the process stack, which is as large as the
// memory limit. V8 needs to stop short of its end.
func nodeStackKiB(memoryMiB int64) int64 {
	return max(984, (memoryMiB-8)*1024) // 984 is V8's own default
}

// NodeTool is Node.js as a tool.
var NodeTool = abi.Tool{Name: "node", Version: []string{"--version"}, Pattern: `v(\d+\.\d+\.\d+)`, Package: "nodejs"}
