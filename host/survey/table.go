package survey

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"text/tabwriter"
)

// maxReasons is how many reasons of a kind the table lists.
const maxReasons = 15

// WriteTable prints a line for each package, and the sums, for people.
func WriteTable(w io.Writer, all []Package) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "package\tformat\tstate\twarnings\tlimit\twhy")
	for _, p := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", p.Path, p.Format, p.State, len(p.Warnings), p.limit(), p.Why())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the survey: %w", err)
	}
	s := Sum(all)
	var states []string
	for _, state := range []State{Proved, Unproved, Imports, Refused, Failed, Left} {
		if n := s.States[state]; n > 0 {
			states = append(states, fmt.Sprintf("%d %s", n, state))
		}
	}
	fmt.Fprintf(w, "\n%d packages: %s\n", s.Packages, strings.Join(states, ", "))
	for _, part := range []struct {
		name    string
		reasons []Reason
	}{{"refused", s.Refused}, {"not proved", s.Unproved}, {"failed", s.Failed}, {"warned", s.Warned}} {
		writeReasons(w, part.name, part.reasons)
	}
	return nil
}

func writeReasons(w io.Writer, name string, all []Reason) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\nwhy packages are %s:\n", name)
	for i, r := range all {
		if i == maxReasons {
			fmt.Fprintf(w, "        and %d other reasons (--json lists all)\n", len(all)-i)
			return
		}
		fmt.Fprintf(w, "%6d  %s (%s)\n", r.Packages, r.Text, path.Base(r.Example))
	}
}

// limit is the time limit, if a proof says it.
func (p Package) limit() string {
	if p.Proof == nil {
		return ""
	}
	return strconv.FormatFloat(float64(p.Proof.LimitMillis)/1000, 'g', -1, 64) + " s"
}

// Why says in a line why a package is not imported or not proved, "" if it is.
func (p Package) Why() string {
	var all []string
	if p.Error != "" {
		all = append(all, firstLine(p.Error))
	}
	for _, f := range p.Refused {
		all = append(all, f.String())
	}
	if p.Proof != nil {
		for _, row := range p.Proof.Rows {
			if row.Problem != "" {
				all = append(all, row.Path+": "+row.Problem)
			}
		}
		for _, f := range p.Proof.Faults {
			all = append(all, firstLine(f))
		}
		if len(p.Proof.Rows) == 0 {
			all = append(all, "there are no submissions")
		}
	}
	const most = 160
	switch {
	case len(all) == 0:
		return ""
	case len([]rune(all[0])) > most:
		all[0] = string([]rune(all[0])[:most]) + "…"
	}
	if len(all) > 1 {
		return fmt.Sprintf("%s (and %d more)", all[0], len(all)-1)
	}
	return all[0]
}

// WriteCSV prints a line for each package, for a spreadsheet.
func WriteCSV(w io.Writer, all []Package) error {
	c := csv.NewWriter(w)
	lines := [][]string{{
		"path", "slug", "format", "state", "refusals", "warnings", "tests", "submissions", "wrong_submissions", "faults",
		"limit_ms", "limit_from", "slowest_ms", "seconds", "why",
	}}
	for _, p := range all {
		line := []string{p.Path, p.Slug, p.Format, string(p.State), strconv.Itoa(len(p.Refused)), strconv.Itoa(len(p.Warnings)), strconv.Itoa(p.Tests)}
		if r := p.Proof; r != nil {
			wrong := 0
			for _, row := range r.Rows {
				if row.Problem != "" {
					wrong++
				}
			}
			line = append(line, strconv.Itoa(len(r.Rows)), strconv.Itoa(wrong), strconv.Itoa(len(r.Faults)),
				strconv.FormatInt(r.LimitMillis, 10), r.LimitFrom, strconv.FormatInt(r.SlowestMillis, 10))
		} else {
			line = append(line, "", "", "", "", "", "")
		}
		lines = append(lines, append(line, strconv.FormatFloat(p.Seconds, 'f', 3, 64), unformula(p.Why())))
	}
	for _, line := range lines {
		line[0], line[1] = unformula(line[0]), unformula(line[1])
	}
	if err := c.WriteAll(lines); err != nil {
		return fmt.Errorf("print the survey: %w", err)
	}
	return nil
}

// unformula keeps spreadsheets from taking a text of a package for a formula.
func unformula(s string) string {
	if s != "" && strings.ContainsAny(s[:1], "=+-@\t\r") {
		return "'" + s
	}
	return s
}

// WriteJSON prints all that is known of the packages, and the sums.
func WriteJSON(w io.Writer, all []Package) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(struct {
		Packages []Package `json:"packages"`
		Sums     Sums      `json:"sums"`
	}{all, Sum(all)}); err != nil {
		return fmt.Errorf("print the survey: %w", err)
	}
	return nil
}
