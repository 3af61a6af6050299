// Package vectors holds the conformance vectors, which README.md describes, for
// programs that prove plugins. Everybody else reads the JSON files.
package vectors

import (
	_ "embed" // for the files
	"encoding/json"
	"fmt"
)

//go:embed hostile.json
var hostile []byte

// Output is an output that no checker may trip over.
type Output struct {
	Name  string `json:"name"`
	Parts []Part `json:"output"`
}

// Part is a piece of an output: Text, or Base64 where the bytes are not UTF-8, Repeat times, or once if Repeat is 0.
type Part struct {
	Text   string `json:"text,omitempty"`
	Base64 []byte `json:"base64,omitempty"`
	Repeat int    `json:"repeat,omitempty"`
}

// Hostile returns the outputs of hostile.json.
func Hostile() ([]Output, error) {
	var outputs []Output
	if err := json.Unmarshal(hostile, &outputs); err != nil {
		return nil, fmt.Errorf("read hostile.json: %w", err)
	}
	return outputs, nil
}
