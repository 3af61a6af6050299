package verify

import "sync"

// The steps of [Finish] and [Run], as [Stage] calls them, in their order.
const (
	StepMake    = "make"    // tests that the package's own programs make
	StepMeasure = "measure" // programs whose time gives the time limit
	StepInspect = "inspect" // questions to validators and checkers
	StepVerify  = "verify"  // submissions
)

// Stage says how far a step is.
type Stage struct {
	Step  string `json:"step"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
	What  string `json:"what,omitempty"` // what was done last, such as the name of a test
}

// stages is about how often a step that has many parts tells of them.
const stages = 40

// counter counts the parts of a step and tells of them, though not of each of many.
type counter struct {
	tell func(Stage)

	mu    sync.Mutex
	stage Stage
	told  int
}

// begin tells that a step of so many parts begins.
func (c Config) begin(step string, total int) *counter {
	n := &counter{tell: c.Stage, stage: Stage{Step: step, Total: total}}
	if n.tell != nil && total > 0 {
		n.tell(n.stage)
	}
	return n
}

// more says that the step has more parts than was thought.
func (n *counter) more(parts int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stage.Total += parts
}

// done counts a part, from any goroutine.
func (n *counter) done(what string) {
	if n.tell == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stage.Done++
	n.stage.What = what
	if n.stage.Done < n.stage.Total && (n.stage.Done-n.told)*stages < n.stage.Total {
		return
	}
	n.told = n.stage.Done
	n.tell(n.stage)
}
