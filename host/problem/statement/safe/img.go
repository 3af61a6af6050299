package safe

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// picture writes an element img, or what describes the picture if it cannot be shown.
func (c *cleaner) picture(attrs []html.Attribute) {
	name, alt := "", ""
	for _, a := range attrs {
		switch a.Key {
		case "src":
			name = a.Val
		case "alt":
			alt = a.Val
		}
	}
	place := c.Picture(name)
	if place == "" {
		if alt != "" {
			c.out.WriteString("<em>[" + html.EscapeString(alt) + "]</em>")
		}
		return
	}
	fmt.Fprintf(&c.out, `<img src="pictures/%s" alt="%s"`, place, html.EscapeString(alt))
	var rest []html.Attribute
	for _, a := range attrs {
		switch a.Key {
		case "src", "alt", "srcset", "sizes":
		case "width", "height":
			rest = append(rest, size(a.Key, a.Val)...)
		case "style":
			for decl := range strings.SplitSeq(a.Val, ";") {
				if side, value, ok := strings.Cut(decl, ":"); ok && (strings.TrimSpace(side) == "width" || strings.TrimSpace(side) == "max-width") {
					rest = append(rest, size("width", strings.TrimSpace(value))...)
				}
			}
			rest = append(rest, a)
		default:
			rest = append(rest, a)
		}
	}
	c.attributes("img", merged(rest))
	c.out.WriteByte('>')
}

// merged puts all classes into one attribute.
func merged(attrs []html.Attribute) []html.Attribute {
	var out []html.Attribute
	var class strings.Builder
	for _, a := range attrs {
		if a.Key == "class" {
			class.WriteString(" " + a.Val)
			continue
		}
		out = append(out, a)
	}
	return append(out, html.Attribute{Key: "class", Val: class.String()})
}

// size returns what a width or height of a picture becomes: shares a class, lengths pixels.
func size(side, value string) []html.Attribute {
	m := LengthForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(value)))
	switch {
	case m == nil:
		return nil
	case m[2] == "%" && side == "width":
		return []html.Attribute{{Key: "class", Val: WidthClass(Number64(m[1]))}}
	case m[2] == "%":
		return nil
	}
	return []html.Attribute{{Key: side, Val: Pixels(m[1], m[2])}}
}
