package judge

// PluginReport is what a job about a plugin found, in the result's field report.
type PluginReport struct {
	Op      PluginOp        `json:"op"`
	Plugin  *Plugin         `json:"plugin,omitempty"`  // as it is kept
	Problem string          `json:"problem,omitempty"` // that it was proved with, previewed on or bound to
	Version string          `json:"version,omitempty"` // bind: of the problem that was made
	Binding string          `json:"binding,omitempty"` // bind: "name" follows what is active, "digest" stays
	Live    bool            `json:"live,omitempty"`    // bind: the version is proved and live
	Checked int             `json:"checked,omitempty"` // preview: submissions that were judged
	Changes []VerdictChange `json:"changes,omitempty"` // preview: those whose verdict or score would change
	Error   string          `json:"error,omitempty"`   // why nothing could be done, and how to mend it

	Conformance *Conformance `json:"report,omitempty"`
}

// VerdictChange is a submission that another checker judges otherwise.
type VerdictChange struct {
	JobID       int64    `json:"job_id"`
	Author      string   `json:"author"`
	Before      Verdict  `json:"before"`
	After       Verdict  `json:"after"`
	BeforeScore *float64 `json:"before_score,omitempty"`
	AfterScore  *float64 `json:"after_score,omitempty"`
	Test        string   `json:"test,omitempty"`    // the first that differs
	Message     string   `json:"message,omitempty"` // what the new checker says there
}

// Conformance is what became of the proof of a plugin. As JSON it is the object that plugins/README.md describes.
type Conformance struct {
	Schema   int                  `json:"schema"` // 1
	Plugin   ProvedPlugin         `json:"plugin"`
	Conforms bool                 `json:"conforms"` // no finding is a failure
	Stages   []ConformanceStage   `json:"stages"`   // in order
	Findings []ConformanceFinding `json:"findings"` // in the order in which they arose
	Cost     *PluginCost          `json:"cost,omitempty"`
}

// Count returns how many findings are errors, and how many are not.
func (c *Conformance) Count() (errs, warnings int) {
	if c == nil {
		return 0, 0
	}
	for _, f := range c.Findings {
		if f.Severity == SeverityError {
			errs++
		}
	}
	return errs, len(c.Findings) - errs
}

// ProvedPlugin says which plugin was proved. All but Digest and Size are empty when it was not admitted.
type ProvedPlugin struct {
	Digest   string       `json:"digest"` // sha256: and 64 hex digits
	Size     int64        `json:"size"`   // bytes
	Name     string       `json:"name,omitempty"`
	Version  string       `json:"version,omitempty"`
	Kind     string       `json:"kind,omitempty"`
	Protocol string       `json:"protocol,omitempty"`
	Origin   string       `json:"manifest_from,omitempty"` // section, describe or upload
	Limits   PluginLimits `json:"limits,omitzero"`         // as they are granted
}

// PluginLimits are what a plugin is granted: memory in MiB, millions of units of fuel,
// and output in KiB. 0 is the host's default.
type PluginLimits struct {
	MemoryMiB int `json:"memory_mib,omitempty"`
	FuelM     int `json:"fuel_m,omitempty"`
	OutputKiB int `json:"output_kib,omitempty"`
}

// StageOutcome says how a stage of a proof of conformance ended.
type StageOutcome string

// The outcomes of a stage.
const (
	StagePassed StageOutcome = "passed"
	StageWarned StageOutcome = "warned" // with warnings alone
	StageFailed StageOutcome = "failed"
	StageNotRun StageOutcome = "not_run" // Reason says what it needs
)

// ConformanceStage is one side of the plugin that was looked at.
type ConformanceStage struct {
	Name    string       `json:"stage"`
	Outcome StageOutcome `json:"outcome"`
	Reason  string       `json:"reason,omitempty"` // why it was not run
	Seconds float64      `json:"seconds"`
}

// Severity says what a finding means for a plugin.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"   // the plugin does not conform
	SeverityWarning Severity = "warning" // it conforms; a setter should look
)

// ConformanceFinding is something that is wrong with a plugin, or may be.
type ConformanceFinding struct {
	Stage    string   `json:"stage"`
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Offender string   `json:"offender"` // what breaks the rule, and where
	Remedy   string   `json:"remedy"`
}

// PluginCost is what calls of a plugin cost, on the machine that proved it. Fuel is the same on every machine.
type PluginCost struct {
	Calls       int     `json:"calls"`         // of the smallest question
	MicrosP50   int64   `json:"cpu_us_p50"`    // CPU time of such a call, in microseconds
	MicrosP99   int64   `json:"cpu_us_p99"`    // the same, of the slowest in a hundred
	Fuel        uint64  `json:"fuel"`          // of such a call; 0 for adapters
	MemoryKiB   int64   `json:"memory_kib"`    // the most that any call grew to
	FuelPerMB   float64 `json:"fuel_per_mb"`   // of a large output that equals its answer; 0 when that was not accepted
	MillisPerMB float64 `json:"cpu_ms_per_mb"` // CPU time of the same
}
