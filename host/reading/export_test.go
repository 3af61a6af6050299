package reading

import (
	"encoding/json"
	"os"
)

// Sample returns the sample that a process was ordered to read.
func Sample(args []string) string {
	var o order
	if len(args) == 2 {
		_ = json.Unmarshal([]byte(args[1]), &o)
	}
	return o.Sample
}

// Confined is what a process does before it reads.
func Confined(args []string) error {
	var o order
	if err := json.Unmarshal([]byte(args[1]), &o); err != nil {
		return err
	}
	_, err := confined(o)
	return err
}

// Tell answers that an archive is none, because of what is said.
func Tell(said string) error { return tell(answer{Archive: said}) }

// Frame answers with anything.
func Frame(kind byte, content []byte) error { return writeFrame(os.Stdout, kind, content) }

// MaxHead is the most that an answer may have, in bytes.
const MaxHead = maxHead
