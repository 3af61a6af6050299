package plugin

import "time"

// Confinement is what a process keeps that is about to work on what strangers made.
type Confinement struct {
	Descriptors int           // how many it keeps, from 0 on
	Reads       string        // the folder that it may read; "" = no file may be opened
	DataBytes   int64         // memory that it may allocate
	CPU         time.Duration // whole seconds
}

// Begin has the calling process give up for ever all else: files, the network, other
// programs and processes, its environment, and what it inherited. [Walls] says which
// of that this machine cannot do.
func (c Confinement) Begin() error {
	return childLimits{DataBytes: c.DataBytes, CPU: c.CPU}.apply(walls{descriptors: c.Descriptors, reads: c.Reads})
}
