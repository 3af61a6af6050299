package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"text/tabwriter"
)

// newFlags returns a flag set that prints to stderr and knows --config.
func newFlags(e *env, name, args string) (*flag.FlagSet, *string) {
	f := bareFlags(e, name, args)
	return f, f.String("config", "config.yaml", "YAML file that fills what the environment leaves unset")
}

// bareFlags returns a flag set of a command that needs no configuration.
func bareFlags(e *env, name, args string) *flag.FlagSet {
	f := flag.NewFlagSet("deepoj "+name, flag.ContinueOnError)
	f.SetOutput(e.stderr)
	f.Usage = func() {
		fmt.Fprintf(e.stderr, "usage: deepoj %s [flags] %s\n", name, args)
		f.PrintDefaults()
	}
	return f
}

// parse parses the flags and says whether the command should go on; if not, the
// status is what it returns.
func parse(f *flag.FlagSet, args []string) (status int, ok bool) {
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, false
	case err != nil:
		return 2, false
	}
	return 0, true
}

// settingsFor loads the configuration for a command whose flags were parsed.
func settingsFor(e *env, f *flag.FlagSet, path string) (*config, error) {
	given := false
	f.Visit(func(fl *flag.Flag) { given = given || fl.Name == "config" })
	c, err := loadConfig(path, given, e.getenv)
	if err != nil {
		return nil, err
	}
	for _, w := range c.warnings {
		fmt.Fprintln(e.stderr, "deepoj: warning:", w)
	}
	return c, nil
}

// settingRow is a setting as it is shown.
type settingRow struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	YAML   string `json:"yaml"`
	Doc    string `json:"doc"`
}

// settingRows returns every setting, without secrets.
func settingRows(c *config) (rows []settingRow) {
	for _, s := range settings {
		value := c.get(s.env)
		if s.secret && value != "" {
			value = "(secret)"
		}
		rows = append(rows, settingRow{s.env, value, c.origins[s.env], s.yaml, s.doc})
	}
	return rows
}

func printConfig(_ context.Context, e *env) int {
	f, path := newFlags(e, "config", "")
	asJSON := f.Bool("json", false, "print JSON")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	rows := settingRows(c)
	if *asJSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(rows); err != nil {
			return e.fail(err)
		}
		return 0
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVALUE\tORIGIN\tYAML\tMEANING")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, r.Value, r.Origin, r.YAML, r.Doc)
	}
	if err := w.Flush(); err != nil {
		return e.fail(err)
	}
	return 0
}
