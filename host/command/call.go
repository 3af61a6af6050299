package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Call is one call of a verb.
type Call struct {
	*Process

	Name   string   // of the verb
	Args   []string // what is no flag
	Given  []string // flags and arguments as they were written
	Behind []string // what follows "--", where the verb takes that apart
	JSON   bool     // facts are to be printed as JSON

	program *Program
}

// Table is an answer for people.
type Table struct {
	Head string // names of the columns, separated by tabs; "" = there are none
	Rows [][]any
}

// Add adds a row. A time is shown in UTC, and one that is not there as a hyphen.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cells) }

// Write writes the table for people.
func (t *Table) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	if t.Head != "" {
		fmt.Fprintln(w, t.Head)
	}
	for _, row := range t.Rows {
		for i, c := range row {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cell(c))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// MarshalJSON writes a list of objects: the names of the columns in lower case, with
// underscores for spaces, name their values.
func (t Table) MarshalJSON() ([]byte, error) {
	names := strings.Split(strings.ReplaceAll(strings.ToLower(t.Head), " ", "_"), "\t")
	var b bytes.Buffer
	for i, row := range t.Rows {
		for j, c := range row {
			if d, ok := c.(time.Duration); ok {
				c = d.String()
			}
			name, _ := json.Marshal(names[j]) // a text always has JSON
			value, err := json.Marshal(c)
			if err != nil {
				return nil, err
			}
			before := ","
			if j == 0 {
				before = map[bool]string{true: "[{", false: "},{"}[i == 0]
			}
			b.WriteString(before + string(name) + ":" + string(value))
		}
	}
	if len(t.Rows) == 0 {
		return []byte("[]"), nil
	}
	return append(b.Bytes(), "}]"...), nil
}

// cell is a value as a table shows it.
func cell(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case *time.Time:
		if v == nil {
			return "-"
		}
		return cell(*v)
	case []string:
		return strings.Join(v, ",")
	}
	return fmt.Sprint(v)
}

// Print prints an answer: with --json the value, else the table.
func (c *Call) Print(value any, t Table) error { return c.Write(value, t.Write) }

// List prints a table, which with --json is a list of objects.
func (c *Call) List(t Table) error { return c.Print(t, t) }

// Say prints an answer: with --json the value, else a sentence, or several lines.
func (c *Call) Say(value any, format string, args ...any) error {
	return c.Write(value, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format+"\n", args...)
		return err
	})
}

// Write prints an answer: with --json the value, else what text writes. A list of nothing is a list in JSON, too.
func (c *Call) Write(value any, text func(io.Writer) error) error {
	if !c.JSON {
		return text(c.Out)
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice && v.IsNil() {
		value = []struct{}{}
	}
	b, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(c.Out, "%s\n", b)
	}
	return err
}

// Warn tells people something beside the answer.
func (c *Call) Warn(format string, args ...any) {
	fmt.Fprintf(c.Err, c.program.Name+": "+format+"\n", args...)
}

// Complain prints why the verb fails. What was only cancelled because of that is no reason and is left out.
func (c *Call) Complain(err error) {
	why := cause(err)
	if why == nil {
		why = errors.New("stopped before it was done")
	}
	c.Warn("%v", why)
}

// cause returns err without those of its parts that say nothing but that something
// was cancelled; nil if nothing else is left.
func cause(err error) error {
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil && cause(inner) == nil {
			return nil
		}
	case interface{ Unwrap() []error }:
		parts := slices.DeleteFunc(slices.Clone(e.Unwrap()), func(part error) bool { return cause(part) == nil })
		if len(parts) == 0 {
			return nil
		}
		if all := errors.Join(e.Unwrap()...); all.Error() == err.Error() { // nothing but its parts
			for i := range parts {
				parts[i] = cause(parts[i])
			}
			return errors.Join(parts...)
		}
	default:
		if err == context.Canceled { //nolint:errorlint // a leaf
			return nil
		}
	}
	return err
}
