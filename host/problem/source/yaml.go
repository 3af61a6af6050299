package source

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Keys is a mapping of a YAML file. Reading a key marks it; what was never read is unknown, and the report says so.
type Keys struct {
	r      *Reader
	File   string
	Prefix string // such as "limits."
	Order  []string
	Nodes  map[string]*yaml.Node
	Read   map[string]bool
}

// YAML parses a YAML file that holds a mapping. A missing or empty file is an empty mapping.
func (r *Reader) YAML(file string) *Keys {
	var doc yaml.Node
	if r.Has(file) {
		if err := yaml.Unmarshal([]byte(r.Text(file)), &doc); err != nil {
			r.Refuse(file, "", "is not YAML: %v", err)
		}
	}
	var root *yaml.Node
	if len(doc.Content) > 0 {
		root = doc.Content[0]
	}
	return r.Mapping(file, "", root)
}

// Mapping returns the keys of a node, which may be nil or null.
func (r *Reader) Mapping(file, prefix string, n *yaml.Node) *Keys {
	k := &Keys{r: r, File: file, Prefix: prefix, Nodes: map[string]*yaml.Node{}, Read: map[string]bool{}}
	n = Target(n)
	if n == nil || n.Tag == "!!null" {
		return k
	}
	if n.Kind != yaml.MappingNode {
		r.Refuse(file, strings.TrimSuffix(prefix, "."), "must be a mapping of keys to values")
		return k
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if key == "" {
			r.Refuse(file, prefix+`""`, "is no key: give it a name")
			continue
		}
		if before, twice := k.Nodes[key]; twice {
			value := Target(n.Content[i+1])
			if key == "input_validator_flags" { // a wrong choice shows when the validators run
				r.Warn(file, prefix+key, "is given twice: the last one counts")
				k.Nodes[key] = value
			} else if before.Kind == yaml.ScalarNode && value.Kind == yaml.ScalarNode && before.Value == value.Value {
				r.Warn(file, prefix+key, "is given twice, both times the same")
			} else {
				r.Refuse(file, prefix+key, "is given twice, and not the same: remove one of them")
			}
			continue
		}
		k.Order = append(k.Order, key)
		k.Nodes[key] = Target(n.Content[i+1])
	}
	return k
}

// Target follows an alias, once: an alias of an alias does not exist.
func Target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Node returns the value of a key that is there and not null.
func (k *Keys) Node(key string) *yaml.Node {
	k.Read[key] = true
	n := k.Nodes[key]
	if n == nil || n.Tag == "!!null" {
		return nil
	}
	return n
}

// Refuse records that the package is refused for a key.
func (k *Keys) Refuse(key, format string, args ...any) {
	k.r.Refuse(k.File, k.Prefix+key, format, args...)
}

// Warn records something that a setter should know of a key.
func (k *Keys) Warn(key, format string, args ...any) {
	k.r.Warn(k.File, k.Prefix+key, format, args...)
}

// Text returns the value of a key that holds one word or sentence.
func (k *Keys) Text(key string) (string, bool) {
	n := k.Node(key)
	if n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode {
		k.Refuse(key, "must be a single value")
		return "", false
	}
	return strings.TrimSpace(n.Value), true
}

// Choice returns the value of a key that must be one of several.
func (k *Keys) Choice(key, otherwise string, of ...string) string {
	s, ok := k.Text(key)
	if !ok || s == "" {
		return otherwise
	}
	if !slices.Contains(of, s) {
		k.Refuse(key, "is %q: it must be one of %s", s, strings.Join(of, ", "))
		return otherwise
	}
	return s
}

// Number returns the value of a key that must be a finite number from low to high.
func (k *Keys) Number(key string, otherwise, low, high float64) float64 {
	s, ok := k.Text(key)
	if !ok {
		return otherwise
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		k.Refuse(key, "is %q: it must be a number", s)
		return otherwise
	}
	if x < low || x > high {
		k.Refuse(key, "is %s: this platform can honour %s to %s", s, Short(low), Short(high))
		return otherwise
	}
	return x
}

// Words returns the values of a key that is a list, or a string of words.
func (k *Keys) Words(key string) ([]string, bool) {
	n := k.Node(key)
	switch {
	case n == nil:
		return nil, false
	case n.Kind == yaml.ScalarNode:
		return strings.Fields(n.Value), true
	case n.Kind != yaml.SequenceNode:
		k.Refuse(key, "must be a string or a list of strings")
		return nil, false
	}
	words := []string{}
	for _, item := range n.Content {
		if item = Target(item); item.Kind != yaml.ScalarNode {
			k.Refuse(key, "must be a string or a list of strings")
			return nil, false
		}
		words = append(words, item.Value)
	}
	return words, true
}

// Scores returns the two numbers of a key such as "0 100".
func (k *Keys) Scores(key string) (low, high *float64) {
	words, ok := k.Words(key)
	if !ok {
		return nil, nil
	}
	var bounds [2]*float64
	for i, w := range words {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil || math.IsNaN(x) || i > 1 {
			k.Refuse(key, "is %q: it must be two numbers, such as \"0 100\"", strings.Join(words, " "))
			return nil, nil
		}
		if !math.IsInf(x, 0) {
			bounds[i] = &x
		}
	}
	if len(words) != 2 {
		k.Refuse(key, "is %q: it must be two numbers, such as \"0 100\"", strings.Join(words, " "))
		return nil, nil
	}
	return bounds[0], bounds[1]
}

// MappingOrNil returns the mapping under a key, or nil if the value is none.
func (k *Keys) MappingOrNil(key string) *Keys {
	if n := k.Node(key); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	return k.Mapping(key)
}

// Mapping returns the mapping under a key.
func (k *Keys) Mapping(key string) *Keys {
	return k.r.Mapping(k.File, k.Prefix+key+".", k.Node(key))
}

// WarnUnknown warns of every key that was not read.
func (k *Keys) WarnUnknown() {
	for _, key := range k.Order {
		if !k.Read[key] {
			k.Warn(key, "is not known and has no effect")
		}
	}
}

// RefuseUnknown refuses every key that was not read.
func (k *Keys) RefuseUnknown() {
	for _, key := range k.Order {
		if !k.Read[key] {
			k.Refuse(key, "is not known, and could change how the problem is judged: correct or remove it")
		}
	}
}

// Flag returns the value of a key that must be true or false.
func (k *Keys) Flag(key string, otherwise bool) bool {
	s, ok := k.Text(key)
	if !ok {
		return otherwise
	}
	switch strings.ToLower(s) { // as YAML 1.1 has them, too
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	k.Refuse(key, "is %q: it must be true or false", s)
	return otherwise
}

// List returns the values of a key that is a list of strings, or one string when that may stand alone.
func (k *Keys) List(key string, alone bool) ([]string, bool) {
	n := k.Node(key)
	switch {
	case n == nil:
		return nil, false
	case n.Kind == yaml.SequenceNode:
		return k.Words(key)
	case n.Kind == yaml.ScalarNode && alone:
		return []string{strings.TrimSpace(n.Value)}, true
	}
	k.Refuse(key, "must be a list of strings, such as [a, b]")
	return nil, false
}

// Short prints a number as people write it.
func Short(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Under returns the keys of a node, which may be nil or null, as those of prefix.
func (k *Keys) Under(prefix string, n *yaml.Node) *Keys { return k.r.Mapping(k.File, prefix+".", n) }
