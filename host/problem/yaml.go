package problem

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// keys is a mapping of a YAML file. Reading a key marks it; what was never read
// is unknown, and the report says so.
type keys struct {
	r      *reader
	file   string
	prefix string // such as "limits."
	order  []string
	nodes  map[string]*yaml.Node
	read   map[string]bool
}

// yaml parses a YAML file that holds a mapping. A missing or empty file is an
// empty mapping.
func (r *reader) yaml(file string) *keys {
	var doc yaml.Node
	if r.has(file) {
		if err := yaml.Unmarshal([]byte(r.text(file)), &doc); err != nil {
			r.refuse(file, "", "is not YAML: %v", err)
		}
	}
	var root *yaml.Node
	if len(doc.Content) > 0 {
		root = doc.Content[0]
	}
	return r.mapping(file, "", root)
}

// mapping returns the keys of a node, which may be nil or null.
func (r *reader) mapping(file, prefix string, n *yaml.Node) *keys {
	k := &keys{r: r, file: file, prefix: prefix, nodes: map[string]*yaml.Node{}, read: map[string]bool{}}
	n = target(n)
	if n == nil || n.Tag == "!!null" {
		return k
	}
	if n.Kind != yaml.MappingNode {
		r.refuse(file, strings.TrimSuffix(prefix, "."), "must be a mapping of keys to values")
		return k
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if key == "" {
			r.refuse(file, prefix+`""`, "is no key: give it a name")
			continue
		}
		if before, twice := k.nodes[key]; twice {
			value := target(n.Content[i+1])
			if key == "input_validator_flags" { // a wrong choice shows when the validators run
				r.warn(file, prefix+key, "is given twice: the last one counts")
				k.nodes[key] = value
			} else if before.Kind == yaml.ScalarNode && value.Kind == yaml.ScalarNode && before.Value == value.Value {
				r.warn(file, prefix+key, "is given twice, both times the same")
			} else {
				r.refuse(file, prefix+key, "is given twice, and not the same: remove one of them")
			}
			continue
		}
		k.order = append(k.order, key)
		k.nodes[key] = target(n.Content[i+1])
	}
	return k
}

// target follows an alias, once: an alias of an alias does not exist.
func target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// node returns the value of a key that is there and not null.
func (k *keys) node(key string) *yaml.Node {
	k.read[key] = true
	n := k.nodes[key]
	if n == nil || n.Tag == "!!null" {
		return nil
	}
	return n
}

func (k *keys) refuse(key, format string, args ...any) {
	k.r.refuse(k.file, k.prefix+key, format, args...)
}

func (k *keys) warn(key, format string, args ...any) {
	k.r.warn(k.file, k.prefix+key, format, args...)
}

// text returns the value of a key that holds one word or sentence.
func (k *keys) text(key string) (string, bool) {
	n := k.node(key)
	if n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode {
		k.refuse(key, "must be a single value")
		return "", false
	}
	return strings.TrimSpace(n.Value), true
}

// choice returns the value of a key that must be one of several.
func (k *keys) choice(key, otherwise string, of ...string) string {
	s, ok := k.text(key)
	if !ok || s == "" {
		return otherwise
	}
	if !slices.Contains(of, s) {
		k.refuse(key, "is %q: it must be one of %s", s, strings.Join(of, ", "))
		return otherwise
	}
	return s
}

// number returns the value of a key that must be a finite number from low to
// high.
func (k *keys) number(key string, otherwise, low, high float64) float64 {
	s, ok := k.text(key)
	if !ok {
		return otherwise
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		k.refuse(key, "is %q: it must be a number", s)
		return otherwise
	}
	if x < low || x > high {
		k.refuse(key, "is %s: this platform can honour %s to %s", s, short(low), short(high))
		return otherwise
	}
	return x
}

// words returns the values of a key that is a list, or a string of words.
func (k *keys) words(key string) ([]string, bool) {
	n := k.node(key)
	switch {
	case n == nil:
		return nil, false
	case n.Kind == yaml.ScalarNode:
		return strings.Fields(n.Value), true
	case n.Kind != yaml.SequenceNode:
		k.refuse(key, "must be a string or a list of strings")
		return nil, false
	}
	words := []string{}
	for _, item := range n.Content {
		if item = target(item); item.Kind != yaml.ScalarNode {
			k.refuse(key, "must be a string or a list of strings")
			return nil, false
		}
		words = append(words, item.Value)
	}
	return words, true
}

// scores returns the two numbers of a key such as "0 100".
func (k *keys) scores(key string) (low, high *float64) {
	words, ok := k.words(key)
	if !ok {
		return nil, nil
	}
	var bounds [2]*float64
	for i, w := range words {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil || math.IsNaN(x) || i > 1 {
			k.refuse(key, "is %q: it must be two numbers, such as \"0 100\"", strings.Join(words, " "))
			return nil, nil
		}
		if !math.IsInf(x, 0) {
			bounds[i] = &x
		}
	}
	if len(words) != 2 {
		k.refuse(key, "is %q: it must be two numbers, such as \"0 100\"", strings.Join(words, " "))
		return nil, nil
	}
	return bounds[0], bounds[1]
}

// mappingOrNil returns the mapping under a key, or nil if the value is none.
func (k *keys) mappingOrNil(key string) *keys {
	if n := k.node(key); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	return k.mapping(key)
}

// mapping returns the mapping under a key.
func (k *keys) mapping(key string) *keys {
	return k.r.mapping(k.file, k.prefix+key+".", k.node(key))
}

// unknown warns of every key that was not read.
func (k *keys) unknown() {
	for _, key := range k.order {
		if !k.read[key] {
			k.warn(key, "is not known and has no effect")
		}
	}
}

// unknownRefused refuses every key that was not read.
func (k *keys) unknownRefused() {
	for _, key := range k.order {
		if !k.read[key] {
			k.refuse(key, "is not known, and could change how the problem is judged: correct or remove it")
		}
	}
}

// flag returns the value of a key that must be true or false.
func (k *keys) flag(key string, otherwise bool) bool {
	s, ok := k.text(key)
	if !ok {
		return otherwise
	}
	switch strings.ToLower(s) { // as YAML 1.1 has them, too
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	k.refuse(key, "is %q: it must be true or false", s)
	return otherwise
}

// list returns the values of a key that is a list of strings, or one string when
// that may stand alone.
func (k *keys) list(key string, alone bool) ([]string, bool) {
	n := k.node(key)
	switch {
	case n == nil:
		return nil, false
	case n.Kind == yaml.SequenceNode:
		return k.words(key)
	case n.Kind == yaml.ScalarNode && alone:
		return []string{strings.TrimSpace(n.Value)}, true
	}
	k.refuse(key, "must be a list of strings, such as [a, b]")
	return nil, false
}

// short prints a number as people write it.
func short(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
