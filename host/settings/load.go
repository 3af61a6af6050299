package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Loaded are settings, with what was said of each.
type Loaded struct {
	Settings

	Rows     []Row
	Warnings []string
}

// Row is a setting as it was given.
type Row struct {
	Name   string `json:"name"`   // in the environment
	Value  string `json:"value"`  // "(secret)" for one that is not told
	Origin string `json:"origin"` // env, secret file, file (config.yaml) or default
	YAML   string `json:"yaml"`   // dotted path in config.yaml
	Doc    string `json:"doc"`    // what it means

	Secret bool `json:"-"` // it is never told, and may come from a file

	given string
	path  bool
}

// Load reads the environment, then the YAML file at path; a missing file is fine unless
// must is set. It reports every bad value at once.
func Load(path string, must bool, getenv func(string) (string, bool)) (*Loaded, error) {
	l := &Loaded{}
	yaml, err := readYAML(path, must)
	errs := []error{err}
	known := map[string]bool{}
	for _, r := range table(&l.Settings) {
		known[r.yaml] = true
		given, origin, err := r.find(yaml, getenv)
		if err == nil {
			if err = r.value.set(given); err != nil {
				shown := "=" + given
				if r.secret {
					shown = ""
				}
				err = fmt.Errorf("%s%s: %w", r.env, shown, err)
			}
		}
		errs = append(errs, err)
		row := Row{Name: r.env, Value: given, Origin: origin, YAML: r.yaml, Doc: r.doc, given: given, Secret: r.secret, path: r.value.path}
		if r.secret && given != "" {
			row.Value = "(secret)"
		}
		l.Rows = append(l.Rows, row)
	}
	for _, key := range slices.Sorted(maps.Keys(yaml)) {
		if !known[key] {
			errs = append(errs, fmt.Errorf("%s: unknown key %s; `deepoj config` lists what exists", path, key))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(obsolete)) {
		if _, ok := getenv(name); ok {
			l.Warnings = append(l.Warnings, name+": "+obsolete[name])
		}
	}
	if v, _ := getenv("OUTBOX_ENABLED"); v == "false" || v == "0" {
		errs = append(errs, errors.New("OUTBOX_ENABLED=false is refused: a message sent before the commit can be lost; use DELIVERY=postgres to do without Redis"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := errors.Join(l.together()...); err != nil {
		return nil, err
	}
	return l, nil
}

// find returns what a setting is, and where that was said.
func (r row) find(yaml map[string]string, getenv func(string) (string, bool)) (given, origin string, err error) {
	given, origin = r.def, "default"
	if v, ok := yaml[r.yaml]; ok {
		given, origin = v, "file"
	}
	own, _ := getenv(r.env)
	name, _ := getenv(r.env + "_FILE")
	switch {
	case r.secret && name != "" && own != "":
		return given, origin, fmt.Errorf("%s and %s_FILE are both set: unset one of them", r.env, r.env)
	case r.secret && name != "":
		given, err = readSecret(r.env+"_FILE", name)
		return given, "secret file", err
	case own != "":
		return own, "env", nil
	}
	return given, origin, nil
}

// readSecret returns the secret in the file that a variable names.
func readSecret(variable, name string) (string, error) {
	data, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return "", fmt.Errorf("%s: %w", variable, err)
	}
	secret := strings.TrimSpace(string(data))
	if secret == "" {
		return "", fmt.Errorf("%s: %s is empty: write the secret into it, or unset %s", variable, name, variable)
	}
	return secret, nil
}

// Environment is the variables from which another process loads the same settings, wherever its working folder is.
func (l *Loaded) Environment() (variables []string) {
	fields := map[string]value{}
	for _, r := range table(&l.Settings) {
		fields[r.env] = r.value
	}
	for _, r := range l.Rows {
		given := r.given
		if at, ok := fields[r.Name].field.(*string); ok && r.path {
			given = *at
		}
		variables = append(variables, r.Name+"="+given)
	}
	return variables
}

// Secrets are the values that are never told.
func (l *Loaded) Secrets() (all []string) {
	for _, r := range l.Rows {
		if r.Secret {
			all = append(all, r.given)
		}
	}
	return all
}

// Variables are the names of everything in the environment that is a setting, or names the file of one.
func Variables() (names []string) {
	for _, r := range table(&Settings{}) {
		names = append(names, r.env)
		if r.secret {
			names = append(names, r.env+"_FILE")
		}
	}
	return names
}

// readYAML flattens a YAML file to dotted keys.
func readYAML(path string, must bool) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		if !must && errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return nil, fmt.Errorf("config: %w", err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	flat := map[string]string{}
	var walk func(prefix string, node any)
	walk = func(prefix string, node any) {
		if m, ok := node.(map[string]any); ok {
			for k, v := range m {
				walk(strings.TrimPrefix(prefix+"."+k, "."), v)
			}
			return
		}
		flat[prefix] = fmt.Sprint(node)
	}
	walk("", tree)
	return flat, nil
}
