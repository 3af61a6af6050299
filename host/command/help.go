package command

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// usage is how a verb is called, in one line.
func (p *Program) usage(v *Verb) string {
	flags := " [flags]"
	if v.Raw && v.Args == "" {
		flags = ""
	}
	return strings.TrimRight(fmt.Sprintf("usage: %s %s%s %s", p.Name, v.Name, flags, v.Args), " ") + "\n"
}

// writeVerb says everything of a verb.
func (p *Program) writeVerb(w io.Writer, v *Verb) {
	fmt.Fprintf(w, "%s\n%s\n", p.usage(v), v.Summary)
	if v.Detail != "" {
		fmt.Fprintln(w, v.Detail)
	}
	f := p.flags(v)
	v.Make(f)
	shown := f.shown()
	if len(shown) > 0 {
		fmt.Fprintln(w)
	}
	for _, one := range shown {
		value, text := flag.UnquoteUsage(one)
		fmt.Fprintf(w, "  %s\n    \t%s", strings.TrimRight(dashed(one.Name)+" "+value, " "), text)
		if d := one.DefValue; d != "" && d != "0" && d != "false" && d != "0s" && !strings.Contains(text, "(default") {
			fmt.Fprintf(w, " (default %s)", d)
		}
		fmt.Fprintln(w)
	}
}

// listed are the verbs and groups one word below a group, "" being the program; a
// group of one word below lists its verbs too, where the group is not the program.
func (p *Program) listed(group string) (all []Verb) {
	for _, v := range p.Verbs {
		top := !strings.Contains(v.Name, " ")
		below := group != "" && v.Make != nil && strings.HasPrefix(v.Name, group+" ")
		if !v.Hidden && (group == "" && top || below) {
			all = append(all, v)
		}
	}
	return all
}

// writeGroup lists the verbs of a group, "" being the program.
func (p *Program) writeGroup(w io.Writer, group string) {
	within := p.Name
	if group != "" {
		within += " " + group
	}
	fmt.Fprintf(w, "usage: %s COMMAND [flags] [ARGUMENTS]\n\n", within)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, v := range p.listed(group) {
		fmt.Fprintf(t, "  %s\t%s\n", strings.TrimRight(p.Name+" "+v.Name+" "+v.Args, " "), v.Summary)
	}
	_ = t.Flush() // as every help: nobody to tell
	fmt.Fprintf(w, "\n`%s COMMAND --help` says more of one.\n", within)
}

// Markdown is the list of the program's commands for a document.
func (p *Program) Markdown() string {
	var b strings.Builder
	b.WriteString("| command | |\n| --- | --- |\n")
	for _, v := range p.listed("") {
		fmt.Fprintf(&b, "| `%s %s` | %s |\n", p.Name, v.Name, v.Summary)
	}
	return b.String()
}

// Shown are the verbs that people may call, by name.
func (p *Program) Shown() []Verb {
	return slices.DeleteFunc(slices.Clone(p.Verbs), func(v Verb) bool { return v.Hidden || v.Make == nil })
}

// nearest returns the name that differs least from what was written, by letters that are
// another, missing, too many, or in the wrong order; "" if none is near.
func nearest(wrong string, names []string) string {
	best, least := "", 2+len(wrong)/4 // of few letters one may be wrong
	for _, name := range names {
		if d := distance(wrong, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// meant asks whether something was meant; "" asks nothing.
func meant(before, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s%s?", before, name)
}

// distance counts the letters by which two words differ; two neighbours that changed places count once.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			other := 1
			if a[i-1] == b[j-1] {
				other = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
