package admission

import "fmt"

// Refusal says why a module was not admitted.
type Refusal struct { //nolint:errname // a refusal is a decision, and is named so by everybody
	Rule     string `json:"rule"`     // the rule that was broken, such as "import" or "body-size"
	Offender string `json:"offender"` // what broke it, such as "env.syscall" or "function 17: 312044 bytes"
	Remedy   string `json:"remedy"`   // how to mend it
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("module refused by rule %s: %s; %s", r.Rule, r.Offender, r.Remedy)
}
