package roster

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// Given is a password that was made for somebody.
type Given struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Password    string `json:"password"`
}

// Passwords writes given passwords as a table that [Read] takes, too.
func Passwords(all []Given) []byte {
	var out bytes.Buffer
	table := csv.NewWriter(&out)
	_ = table.Write([]string{ColumnName, ColumnDisplayName, ColumnPassword}) // to memory
	for _, g := range all {
		_ = table.Write([]string{Cell(g.Name), Cell(g.DisplayName), Cell(g.Password)})
	}
	table.Flush()
	return out.Bytes()
}

// Cell writes a text so that no program for tables takes it for a formula.
func Cell(text string) string {
	if strings.ContainsAny(text[:min(1, len(text))], "=+-@\t\r") || strings.HasPrefix(text, "\uff1d") || strings.HasPrefix(text, "\uff0b") || strings.HasPrefix(text, "\uff0d") || strings.HasPrefix(text, "\uff20") {
		return "'" + text
	}
	return text
}
