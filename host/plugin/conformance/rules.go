package conformance

import (
	"slices"

	"deepoj/host/judge"
)

// The stages of the suite.
const (
	stageAdmission    = "admission"
	stageManifest     = "manifest"
	stageTests        = "own-tests"
	stageOracle       = "oracle"
	stageSubmissions  = "submissions"
	stageDeterminism  = "determinism"
	stageHostile      = "hostile"
	stageConversation = "conversation"
	stageEqual        = "equal-accepts"
	stageMutants      = "mutants"
	stageMessages     = "messages"
	stageCost         = "cost"
	stagePlan         = "plan"
	stageRun          = "run"
)

// Rule is something that a plugin must keep to, or had better.
type Rule struct {
	Name     string
	Stage    string
	Severity judge.Severity
	Demands  string // what must hold
	Remedy   string // what to do where it does not
}

// rules lists what the suite looks for. The rules of the stage admission are the
// runtime's; their remedies come with each refusal.
var rules = []Rule{
	{Name: "module-size", Stage: stageAdmission, Severity: Failure, Demands: "the module has at most 16 MiB"},
	{Name: "magic", Stage: stageAdmission, Severity: Failure, Demands: "it is a WebAssembly module of version 1"},
	{Name: "malformed", Stage: stageAdmission, Severity: Failure, Demands: "its sections are whole and in order"},
	{Name: "types", Stage: stageAdmission, Severity: Failure, Demands: "at most 2,000 function types"},
	{Name: "signature", Stage: stageAdmission, Severity: Failure, Demands: "at most 128 parameters and 128 results of a function"},
	{Name: "imports", Stage: stageAdmission, Severity: Failure, Demands: "at most 200 imports"},
	{Name: "import", Stage: stageAdmission, Severity: Failure, Demands: "imports come from WASI preview 1 alone"},
	{Name: "functions", Stage: stageAdmission, Severity: Failure, Demands: "at most 20,000 functions"},
	{Name: "tables", Stage: stageAdmission, Severity: Failure, Demands: "at most one table"},
	{Name: "table-size", Stage: stageAdmission, Severity: Failure, Demands: "at most 65,536 elements in the table"},
	{Name: "table-grow", Stage: stageAdmission, Severity: Failure, Demands: "the table does not grow"},
	{Name: "elements", Stage: stageAdmission, Severity: Failure, Demands: "at most 200,000 elements for the table"},
	{Name: "memories", Stage: stageAdmission, Severity: Failure, Demands: "at most one memory"},
	{Name: "memory-size", Stage: stageAdmission, Severity: Failure, Demands: "the first memory fits into the memory limit"},
	{Name: "globals", Stage: stageAdmission, Severity: Failure, Demands: "at most 10,000 globals"},
	{Name: "exports", Stage: stageAdmission, Severity: Failure, Demands: "at most 10,000 exports"},
	{Name: "export", Stage: stageAdmission, Severity: Failure, Demands: "no export begins with \"judge.\""},
	{Name: "entry", Stage: stageAdmission, Severity: Failure, Demands: "it is a command: it exports _start"},
	{Name: "data-segments", Stage: stageAdmission, Severity: Failure, Demands: "at most 100,000 data segments"},
	{Name: "body-size", Stage: stageAdmission, Severity: Failure, Demands: "at most 256 KiB in a function"},
	{Name: "locals", Stage: stageAdmission, Severity: Failure, Demands: "at most 2,000 locals in a function"},
	{Name: "depth", Stage: stageAdmission, Severity: Failure, Demands: "blocks nest at most 2,000 deep"},
	{Name: "br-table", Stage: stageAdmission, Severity: Failure, Demands: "at most 4,096 targets of a br_table"},
	{Name: "instruction", Stage: stageAdmission, Severity: Failure, Demands: "instructions of WebAssembly 2.0 alone"},
	{Name: "invalid", Stage: stageAdmission, Severity: Failure, Demands: "the module validates"},
	{Name: "compile-cost", Stage: stageAdmission, Severity: Failure, Demands: "it compiles in 10 s and 1 GiB"},
	{
		Name: "time", Stage: stageAdmission, Severity: Failure, Demands: "the plugin needs no more processor time than there is for it, in all stages",
		Remedy: "look for loops that do not end; a plugin that is only slow gets longer with --time of deepoj plugin test",
	},
	{Name: "manifest", Stage: stageAdmission, Severity: Failure, Demands: "the manifest is one that this host understands"},

	{
		Name: "describe", Stage: stageManifest, Severity: Failure,
		Demands: "--describe, where it is answered, prints the manifest of the section",
		Remedy:  "print the file that is embedded, or do not answer --describe",
	},
	{
		Name: "options", Stage: stageManifest, Severity: Failure,
		Demands: "options is the JSON Schema of an object, and every {name} in args is one of its properties",
		Remedy:  `write options as {"type":"object","properties":{…}} and declare each name there`,
	},
	{
		Name: "examples", Stage: stageManifest, Severity: Failure,
		Demands: "an adapter brings the programs hello and broken and says on which line broken is",
		Remedy:  "fill in hello, broken and broken_line of the manifest's language",
	},
	{
		Name: "limits", Stage: stageManifest, Severity: Warning,
		Demands: "the limits are no more than the operator allows",
		Remedy:  "ask for less, or have the operator allow more",
	},
	{
		Name: "no-tests", Stage: stageManifest, Severity: Warning,
		Demands: "a checker's manifest has a test that is accepted and one that is rejected",
		Remedy:  "add tests to the manifest: the stages that follow begin with those that are accepted",
	},

	{
		Name: "own-test", Stage: stageTests, Severity: Failure,
		Demands: "each test of the manifest ends as it expects",
		Remedy:  "mend the checker or the test",
	},

	{
		Name: "oracle-answer", Stage: stageOracle, Severity: Failure,
		Demands: "the answer of each test of the package is accepted as an output",
		Remedy:  "mend the checker, or the answer file if it is no right output",
	},
	{
		Name: "submission-accepted", Stage: stageSubmissions, Severity: Failure,
		Demands: "what the package's accepted submissions print is accepted",
		Remedy:  "the checker is too strict, or the submission is wrong",
	},
	{
		Name: "submission-wrong", Stage: stageSubmissions, Severity: Failure,
		Demands: "what the package's wrong submissions print is rejected on one test at least",
		Remedy:  "the checker is too generous, or the tests do not show what is wrong",
	},
	{
		Name: "talk-accepted", Stage: stageConversation, Severity: Failure,
		Demands: "the package's accepted submissions are accepted",
		Remedy:  "the interactor is too strict, or does not flush what it says, or the submission is wrong",
	},
	{
		Name: "talk-wrong", Stage: stageConversation, Severity: Failure,
		Demands: "the package's wrong submissions are rejected on one test at least",
		Remedy:  "the interactor is too generous, or the tests do not show what is wrong",
	},
	{
		Name: "talk-partner", Stage: stageConversation, Severity: Failure,
		Demands: "a program that is silent, ends or stops listening at once, or floods is rejected, and is no judging error",
		Remedy:  "take the end of what the program says, and what does not parse, for a wrong answer; bound how much is read",
	},

	{
		Name: "deterministic", Stage: stageDeterminism, Severity: Failure,
		Demands: "the same question gets the same exit code, message and fuel, in every instance",
		Remedy:  "report it with the module: a guest has nothing that could differ",
	},

	{
		Name: "hostile-trap", Stage: stageHostile, Severity: Failure,
		Demands: "no input ends the plugin by a trap or a flood of output",
		Remedy:  "check lengths and bounds; do not recurse over the input; cut messages short",
	},
	{
		Name: "hostile-memory", Stage: stageHostile, Severity: Failure,
		Demands: "no input makes the plugin run out of memory",
		Remedy:  "read the output in pieces, or ask for more memory in the manifest",
	},
	{
		Name: "hostile-fuel", Stage: stageHostile, Severity: Failure,
		Demands: "no input makes the plugin run out of fuel",
		Remedy:  "read each byte once, or ask for more fuel in the manifest",
	},
	{
		Name: "hostile-exit", Stage: stageHostile, Severity: Failure,
		Demands: "every input ends in an exit code and an answer that the protocol knows",
		Remedy:  "end with an exit code of the protocol's table; for testlib build with -DPC_BASE_EXIT_CODE=50",
	},
	{
		Name: "hostile-blame", Stage: stageHostile, Severity: Failure,
		Demands: "a program's output never makes the checker say that the judges' side failed",
		Remedy:  "answer wrong for what the program did; fail for bad inputs and answers only",
	},

	{
		Name: "equal-accepts", Stage: stageEqual, Severity: Failure,
		Demands: "with equal_accepts, an output that equals the answer is accepted",
		Remedy:  "take equal_accepts out of the manifest",
	},

	{
		Name: "mutant", Stage: stageMutants, Severity: Warning,
		Demands: "an output with a mistake is rejected",
		Remedy:  "look whether the change makes the output wrong; if so the checker misses it",
	},
	{
		Name: "first-line-only", Stage: stageMutants, Severity: Warning,
		Demands: "the whole output is looked at",
		Remedy:  "read on to the end of the output",
	},

	{
		Name: "leak", Stage: stageMessages, Severity: Failure,
		Demands: "no message that the contestant sees holds a piece of the answer",
		Remedy:  "say where the output is wrong and what was read; icpc/1 has judgemessage.txt for the rest",
	},
	{
		Name: "leak-testlib", Stage: stageMessages, Severity: Warning,
		Demands: "the message of a testlib/1 checker, which the contestant sees too, holds no piece of the answer",
		Remedy:  "say where the output is wrong and what was read, but not what was expected",
	},

	{
		Name: "slow", Stage: stageCost, Severity: Warning,
		Demands: "the fuel is enough for an output and an answer of 64 MB",
		Remedy:  "ask for more fuel in the manifest, or read faster",
	},

	{
		Name: "plan-fails", Stage: stagePlan, Severity: Failure,
		Demands: "the adapter plans for its own examples",
		Remedy:  "answer a request with a plan; use error only for mistakes in the sources",
	},
	{
		Name: "plan-files", Stage: stagePlan, Severity: Failure,
		Demands: "the plan's files have different relative paths without \"..\", and sources that exist",
		Remedy:  "write files into the working directory only",
	},
	{
		Name: "plan-step", Stage: stagePlan, Severity: Failure,
		Demands: "each step has either a tool or a program, the program is a relative path, and Compiled tells whether there are compile steps",
		Remedy:  `name a tool, or an artifact such as "./main"`,
	},
	{
		Name: "plan-tool", Stage: stagePlan, Severity: Failure,
		Demands: "each tool is a logical name that the manifest lists, never a path",
		Remedy:  "list the tool in the manifest's language.tools and let the operator say where it is",
	},
	{
		Name: "plan-environment", Stage: stagePlan, Severity: Failure,
		Demands: "variables have names of letters, digits and underscores, and PATH is left alone",
		Remedy:  "the box sets PATH; name tools instead",
	},
	{
		Name: "plan-artifacts", Stage: stagePlan, Severity: Failure,
		Demands: "artifacts are relative globs, and there are some when something is compiled",
		Remedy:  "list what the run needs",
	},
	{
		Name: "plan-limits", Stage: stagePlan, Severity: Failure,
		Demands: "limits are not negative, and at most 10 minutes of CPU time, 16 GiB of memory and 4,096 processes",
		Remedy:  "ask for what the compiler needs",
	},
	{
		Name: "plan-memory", Stage: stagePlan, Severity: Failure,
		Demands: "memory_policy is cgroup or runtime+cgroup, and memory_exit a regular expression that goes with the latter",
		Remedy:  "see memory_policy in plugins/README.md",
	},
	{
		Name: "plan-diagnostics", Stage: stagePlan, Severity: Failure,
		Demands: "diagnostics are gcc, javac, a regex with the groups file, line and message, or plugin, which must answer",
		Remedy:  "see Format in plugins/abi",
	},
	{
		Name: "plan-names", Stage: stagePlan, Severity: Failure,
		Demands: "names of submitted files that are no good names give safe paths",
		Remedy:  "clean names, as the Go SDK does: letters, digits, \"_\", \".\" and \"-\", not at the start",
	},

	{
		Name: "run-hello", Stage: stageRun, Severity: Failure,
		Demands: "the program hello compiles, ends well and prints hello",
		Remedy:  "try the plan's steps by hand",
	},
	{
		Name: "run-broken", Stage: stageRun, Severity: Failure,
		Demands: "the program broken does not compile",
		Remedy:  "have a compile step that fails, also for languages that need none to run",
	},
	{
		Name: "run-line", Stage: stageRun, Severity: Failure,
		Demands: "the first error of the program broken is told on line broken_line of the submitted file",
		Remedy:  "see how the diagnostics name the file and the line",
	},
}

// Rules returns the rules of the suite, in the order of its stages.
func Rules() []Rule { return slices.Clone(rules) }

// ruleNamed returns a rule.
func ruleNamed(name string) (Rule, bool) {
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if at < 0 {
		return Rule{}, false
	}
	return rules[at], true
}
