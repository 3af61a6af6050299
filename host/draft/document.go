package draft

import (
	"bytes"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// document is a YAML file whose keys are changed, and nothing else: comments and order stay.
type document struct {
	e       *editor
	name    string
	doc     yaml.Node
	changed bool
	broken  bool // it is no mapping
}

func (e *editor) yaml(name string) *document {
	d := &document{e: e, name: name}
	if err := yaml.Unmarshal([]byte(e.text(name)), &d.doc); err != nil || len(d.doc.Content) > 0 && d.doc.Content[0].Kind != yaml.MappingNode {
		d.doc, d.broken = yaml.Node{}, true
	}
	if len(d.doc.Content) == 0 {
		d.doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}}
	}
	return d
}

// find returns the mapping that holds the last of keys, and where the value is in it;
// -1 = it is not there. Missing mappings are made if that is wanted.
func (d *document) find(make bool, keys ...string) (*yaml.Node, int) {
	at := d.doc.Content[0]
	for i, key := range keys {
		where := -1
		for j := 0; j+1 < len(at.Content); j += 2 {
			if at.Content[j].Value == key {
				where = j + 1
			}
		}
		if i == len(keys)-1 {
			return at, where
		}
		if where < 0 || at.Content[where].Kind != yaml.MappingNode {
			if !make {
				return nil, -1
			}
			fresh := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			if where < 0 {
				at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, fresh)
			} else {
				at.Content[where] = fresh
			}
			at = fresh
			continue
		}
		at = at.Content[where]
	}
	return at, -1
}

// put sets the value of a key.
func (d *document) put(value *yaml.Node, keys ...string) {
	in, at := d.find(true, keys...)
	if at < 0 {
		in.Content = append(in.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: keys[len(keys)-1]}, value)
	} else {
		in.Content[at] = value
	}
	d.changed = true
}

func (d *document) set(value string, keys ...string) {
	d.put(scalar(value), keys...)
}

// scalar is a value that is read as it was meant, as a number if it is one.
func scalar(value string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(value)
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		n.Tag, n.Style = "", 0
	}
	return n
}

func (d *document) list(key string, words []string) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, w := range words {
		n.Content = append(n.Content, scalar(w))
	}
	d.put(n, key)
}

func (d *document) remove(keys ...string) {
	in, at := d.find(false, keys...)
	if at > 0 {
		in.Content = slices.Delete(in.Content, at-1, at+1)
		d.changed = true
	}
}

// names returns the names of the problem by language.
func (d *document) names() map[string]string {
	out := map[string]string{}
	in, at := d.find(false, "name")
	switch {
	case at < 0:
	case in.Content[at].Kind == yaml.ScalarNode:
		out["en"] = in.Content[at].Value
	case in.Content[at].Kind == yaml.MappingNode:
		for i := 0; i+1 < len(in.Content[at].Content); i += 2 {
			out[in.Content[at].Content[i].Value] = in.Content[at].Content[i+1].Value
		}
	}
	return out
}

// setNames writes names: one in English alone as it is.
func (d *document) setNames(names map[string]string) {
	switch {
	case len(names) == 0:
		d.remove("name")
	case len(names) == 1 && names["en"] != "":
		n := &yaml.Node{}
		n.SetString(names["en"])
		d.put(n, "name")
	default:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		tags := make([]string, 0, len(names))
		for tag := range names {
			tags = append(tags, tag)
		}
		slices.Sort(tags)
		for _, tag := range tags {
			name := &yaml.Node{}
			name.SetString(names[tag])
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: tag}, name)
		}
		d.put(n, "name")
	}
}

// save writes the file if it was changed.
func (d *document) save() {
	if !d.changed {
		return
	}
	if d.broken {
		d.e.refuse("files", "invalid", "%s is no YAML that can be changed: mend it under Files.", d.name)
		return
	}
	if len(d.doc.Content[0].Content) == 0 && d.name != problemYAML {
		d.e.drop(d.name)
		return
	}
	var out bytes.Buffer
	w := yaml.NewEncoder(&out)
	w.SetIndent(2)
	if err := w.Encode(&d.doc); err != nil {
		d.e.err = err
		return
	}
	d.e.put("files", d.name, out.Bytes())
}

// Names returns the names of a version by language, as its problem.yaml has them.
func Names(text string) map[string]string {
	d := &document{}
	if yaml.Unmarshal([]byte(text), &d.doc) != nil || len(d.doc.Content) == 0 || d.doc.Content[0].Kind != yaml.MappingNode {
		return map[string]string{}
	}
	return d.names()
}
