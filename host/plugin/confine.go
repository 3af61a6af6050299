package plugin

import "time"

// Confine has the calling process, which is about to work on what strangers made, give
// up for ever what that does not need: other programs, other processes, the network,
// memory beyond some bytes, and CPU time beyond some whole seconds.
func Confine(dataBytes int64, cpu time.Duration) error {
	return childLimits{DataBytes: dataBytes, CPU: cpu}.apply()
}
