package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// said is what feed.yaml says of one setting.
type said struct {
	text string
	line int
}

// Load reads the environment, then the YAML file at path; a missing file is fine unless must is set. It reports every
// wrong key and value at once.
func Load(path string, must bool, getenv func(string) (string, bool)) (*Config, error) {
	c, t := &Config{}, &raw{}
	rows := table(c, t)
	file, err := readYAML(path, must)
	errs := []error{err}
	known := map[string]bool{}
	for _, r := range rows {
		known[r.key] = true
		given, origin, err := r.find(file, getenv)
		if err == nil {
			if err = r.set(given); err != nil {
				err = r.wrong(origin, path, file[r.key].line, given, err)
			}
		}
		errs = append(errs, err)
		shown := Row{Name: r.key, Env: r.env(), Value: given, Origin: origin, Doc: r.doc}
		if r.secret && given != "" {
			shown.Value = "(secret)"
		}
		c.Rows = append(c.Rows, shown)
	}
	for _, key := range slices.Sorted(maps.Keys(file)) {
		if !known[key] {
			errs = append(errs, fmt.Errorf("%s:%d: unknown key %s%s", path, file[key].line, key, nearest(key, rows)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := errors.Join(c.together(*t)...); err != nil {
		return nil, err
	}
	if c.Workers == 0 {
		c.Workers = cores()
	}
	c.warn()
	return c, nil
}

// wrong is the error of a value, by the name and place at which it was given.
func (r row) wrong(origin, path string, line int, given string, err error) error {
	name := r.key
	if origin != "file" {
		name = r.env()
	}
	if r.secret {
		err = fmt.Errorf("%s: %w", name, err)
	} else {
		err = fmt.Errorf("%s=%.200s: %w", name, given, err)
	}
	if origin == "file" {
		return fmt.Errorf("%s:%d: %w", path, line, err)
	}
	return err
}

// find returns what a setting is, and where that was said.
func (r row) find(file map[string]said, getenv func(string) (string, bool)) (given, origin string, err error) {
	given, origin = r.def, "default"
	if s, ok := file[r.key]; ok && s.text != "" {
		given, origin = s.text, "file"
	}
	own, _ := getenv(r.env())
	name, _ := getenv(r.env() + "_FILE")
	switch {
	case r.secret && name != "" && own != "":
		return given, origin, fmt.Errorf("%s and %s_FILE are both set: unset one of them", r.env(), r.env())
	case r.secret && name != "":
		data, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			return given, origin, fmt.Errorf("%s_FILE: %w", r.env(), err)
		}
		if given = strings.TrimSpace(string(data)); given == "" {
			return given, origin, fmt.Errorf("%s_FILE: %s is empty: write the secret into it, or unset %s_FILE", r.env(), name, r.env())
		}
		return given, "secret file", nil
	case own != "":
		return own, "env", nil
	}
	return given, origin, nil
}

// readYAML reads what a file says of each setting.
func readYAML(path string, must bool) (map[string]said, error) {
	data, err := os.ReadFile(filepath.Clean(path))
	if !must && (path == "" || errors.Is(err, fs.ErrNotExist)) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: must consist of lines such as \"source: postgres\"", path, root.Line)
	}
	all, errs := map[string]said{}, []error{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if first, twice := all[key.Value]; twice {
			errs = append(errs, fmt.Errorf("%s:%d: %s stands in line %d already: take one out", path, key.Line, key.Value, first.line))
			continue
		}
		text, err := textOf(key.Value, value)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", path, key.Line, err))
		}
		all[key.Value] = said{text, key.Line}
	}
	return all, errors.Join(errs...)
}

// textOf returns a value as the environment would have it.
func textOf(key string, value *yaml.Node) (string, error) {
	if value.Kind == yaml.AliasNode {
		return "", fmt.Errorf("%s: must not be an alias: write the value itself", key)
	}
	if key == rulesKey && value.ShortTag() != "!!null" {
		text, err := yaml.Marshal(value)
		return string(text), err
	}
	switch value.Kind { //nolint:exhaustive // documents and aliases are no values
	case yaml.ScalarNode:
		if value.ShortTag() == "!!null" {
			return "", nil
		}
		return value.Value, nil
	case yaml.SequenceNode:
		var all []string
		for _, v := range value.Content {
			if v.Kind != yaml.ScalarNode || v.Value == "" || len(words(v.Value)) != 1 {
				return "", fmt.Errorf("%s: must be a list of words, without commas and spaces in them", key)
			}
			all = append(all, v.Value)
		}
		return strings.Join(all, ","), nil
	}
	return "", fmt.Errorf("%s: must be one value or a list, and no keys below it", key)
}

// nearest names the setting that an unknown key may mean.
func nearest(key string, rows []row) string {
	best, least := "", 4
	for _, r := range rows {
		if d := distance(strings.ToLower(key), r.key); d < least {
			best, least = r.key, d
		}
	}
	if best == "" {
		return ": take it out; host/docs/feed-settings.md lists what exists"
	}
	return ": write " + best + ", or take it out"
}

// distance is how many letters have to be changed, put in or taken out to make one word of another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Markdown is the table of settings for the documents.
func Markdown() string {
	var out strings.Builder
	out.WriteString("| setting | by default | meaning |\n| --- | --- | --- |\n")
	for _, r := range table(&Config{}, &raw{}) {
		def := ""
		if r.def != "" {
			def = "`" + r.def + "`"
		}
		doc := r.doc
		if r.secret {
			doc += " (secret)"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", r.key, def, strings.ReplaceAll(doc, "|", `\|`))
	}
	return out.String()
}
