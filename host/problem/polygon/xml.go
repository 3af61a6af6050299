package polygon

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/problem/source"
)

// What an XML file may have at most.
const (
	maxElements = 200_000
	maxNesting  = 32 // elements in elements
)

// element is an element of an XML file, or one that is not there. It remembers
// what was read of it, so that the rest can be named.
type element struct {
	r     *source.Reader
	file  string
	path  string // such as "judging/testset/tests/test[3]"
	name  string
	there bool

	attrs    map[string]string
	order    []string // of attrs
	text     []byte
	children []*element
	read     map[string]bool // names of children, and of attributes after an @
}

// parse returns the element of problem in a file, or nil if it has none.
func parse(r *source.Reader, file string) *element {
	root, err := parseXML(r.Text(file))
	switch {
	case err != nil:
		r.Refuse(file, "", "is not XML that can be read: %v", err)
		return nil
	case root.name != "problem":
		r.Refuse(file, root.name, "is no problem: the file must begin with <problem>")
		return nil
	}
	root.adopt(r, file, "")
	return root
}

// parseXML returns the first element of a text, with all below it.
func parseXML(text string) (*element, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	top := &element{}
	open := []*element{top}
	n := 0
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && len(top.children) == 1:
			return top.children[0], nil
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("it has %d elements at the top, and must have one", len(top.children))
		case err != nil:
			return nil, err
		}
		last := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if n++; n > maxElements {
				return nil, fmt.Errorf("it has more than %d elements", maxElements)
			}
			if len(open) > maxNesting {
				return nil, fmt.Errorf("elements are more than %d deep in each other", maxNesting)
			}
			e := &element{name: t.Name.Local, there: true, attrs: map[string]string{}}
			for _, a := range t.Attr {
				if _, twice := e.attrs[a.Name.Local]; twice {
					return nil, fmt.Errorf("line %d: the attribute %s is given twice", line(d), a.Name.Local)
				}
				e.attrs[a.Name.Local] = a.Value
				e.order = append(e.order, a.Name.Local)
			}
			last.children = append(last.children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			last.text = append(last.text, t...)
		}
	}
}

func line(d *xml.Decoder) int { n, _ := d.InputPos(); return n }

// adopt says where e and all below it are.
func (e *element) adopt(r *source.Reader, file, at string) {
	e.r, e.file, e.path, e.read = r, file, at, map[string]bool{}
	count, seen := map[string]int{}, map[string]int{}
	for _, c := range e.children {
		count[c.name]++
	}
	for _, c := range e.children {
		seen[c.name]++
		place := c.name
		if count[c.name] > 1 {
			place = fmt.Sprintf("%s[%d]", c.name, seen[c.name])
		}
		if at != "" {
			place = at + "/" + place
		}
		c.adopt(r, file, place)
	}
}

// key returns the place of an attribute of e, or of e itself.
func (e *element) key(attr string) string {
	if attr == "" {
		return e.path
	}
	return strings.TrimPrefix(e.path+"/@"+attr, "/")
}

func (e *element) refuse(attr, format string, args ...any) {
	e.r.Refuse(e.file, e.key(attr), format, args...)
}

func (e *element) warn(attr, format string, args ...any) {
	e.r.Warn(e.file, e.key(attr), format, args...)
}

// child returns the child with a name, or an element that is not there.
func (e *element) child(name string) *element {
	all := e.all(name)
	if len(all) == 0 {
		missing := &element{name: name}
		missing.adopt(e.r, e.file, strings.TrimPrefix(e.path+"/"+name, "/"))
		return missing
	}
	if len(all) > 1 {
		all[1].refuse("", "is given twice: leave one of them")
	}
	return all[0]
}

// all returns the children with a name.
func (e *element) all(name string) []*element {
	e.read[name] = true
	var all []*element
	for _, c := range e.children {
		if c.name == name {
			all = append(all, c)
		}
	}
	return all
}

// attr returns an attribute, "" if it is not there.
func (e *element) attr(name string) string {
	e.read["@"+name] = true
	return strings.TrimSpace(e.attrs[name])
}

// number returns an attribute that is a finite number, or nil if it is not there.
func (e *element) number(name string, low, high float64) *float64 {
	s := e.attr(name)
	if s == "" {
		return nil
	}
	return e.parse(name, s, low, high)
}

// value returns the text of e as a number, or nil if it is none.
func (e *element) value(low, high float64) *float64 {
	return e.parse("", strings.TrimSpace(string(e.text)), low, high)
}

func (e *element) parse(attr, s string, low, high float64) *float64 {
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		e.refuse(attr, "is %q: it must be a number", s)
		return nil
	case x < low || x > high:
		e.refuse(attr, "is %s: this platform can honour %s to %s", s, source.Short(low), source.Short(high))
		return nil
	}
	return &x
}

// choice returns an attribute that must be one of several; the first is meant if it is not there.
func (e *element) choice(name string, of ...string) string {
	s := e.attr(name)
	if s == "" {
		return of[0]
	}
	if !slices.Contains(of, s) {
		e.refuse(name, "is %q: it must be one of %s", s, strings.Join(of, ", "))
		return of[0]
	}
	return s
}

// ignore takes note of attributes and children that say nothing about judging.
func (e *element) ignore(names ...string) {
	for _, name := range names {
		e.read[name] = true
	}
}

// unknown warns of what was not read of e.
func (e *element) unknown() { e.unread(e.r.Warn, "is not known and has no effect") }

// unknownRefused refuses what was not read of e.
func (e *element) unknownRefused() {
	e.unread(e.r.Refuse, "is not known, and could change how the problem is judged: remove it if the problem does without")
}

func (e *element) unread(tell func(file, key, format string, args ...any), why string) {
	for _, name := range e.order {
		if !e.read["@"+name] {
			tell(e.file, e.key(name), "%s", why)
		}
	}
	told := map[string]bool{}
	for _, c := range e.children {
		if !e.read[c.name] && !told[c.name] {
			told[c.name] = true
			tell(e.file, c.path, "%s", why)
		}
	}
}
