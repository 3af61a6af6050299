package safe

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	checkedTag  = regexp.MustCompile(`^<(/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"<>]*")*)>`)
	checkedAttr = regexp.MustCompile(` ([a-z]+)="([^"]*)"`)
	reference   = regexp.MustCompile(`^&(?:#[0-9]{1,7}|[a-z]{2,4});`)
)

// Check reports what in a page is no statement as a [statement.Renderer] writes it: an element,
// attribute, class or address that it never writes, or elements that are not closed.
func Check(page string) error {
	if len(page) > 2*MaxPage {
		return fmt.Errorf("it has %d bytes", len(page))
	}
	var open []string
	for {
		at := strings.IndexByte(page, '<')
		if at < 0 {
			break
		}
		page = page[at:]
		m := checkedTag.FindStringSubmatch(page)
		if m == nil || !htmlElements[m[2]] && !mathElements[m[2]] || m[1] != "" && m[3] != "" {
			return fmt.Errorf("%q is no element of a statement", page[:min(len(page), 100)])
		}
		name := m[2]
		switch {
		case m[1] != "":
			if len(open) == 0 || open[len(open)-1] != name {
				return fmt.Errorf("</%s> ends nothing", name)
			}
			open = open[:len(open)-1]
		case !voids[name]:
			if open = append(open, name); len(open) > maxDepth {
				return fmt.Errorf("more than %d elements are in each other", maxDepth)
			}
		}
		if err := checkAttributes(name, m[3]); err != nil {
			return err
		}
		page = page[len(m[0]):]
	}
	if len(open) > 0 {
		return fmt.Errorf("<%s> is not closed", open[len(open)-1])
	}
	return nil
}

func checkAttributes(element, attributes string) error {
	for _, a := range checkedAttr.FindAllStringSubmatch(attributes, -1) {
		name, value := a[1], a[2]
		plain, ok := unescape(value)
		if !ok || !allowed(element, name, plain) {
			return fmt.Errorf("the attribute %s of <%s> is none of a statement", name, element)
		}
		switch name {
		case "href":
			if !plainAddress(plain) {
				return fmt.Errorf("a link goes to %q", value[:min(len(value), 100)])
			}
		case "src":
			if !PicturePlace.MatchString(plain) {
				return fmt.Errorf("a picture is at %q", value[:min(len(value), 100)])
			}
		case "class":
			if got := allowedClasses(plain); strings.Join(got, " ") != plain {
				return fmt.Errorf("the classes %q are none of a statement", value[:min(len(value), 100)])
			}
		}
	}
	return nil
}

// escapes are how the characters of HTML are written.
var escapes = map[string]string{"&amp;": "&", "&lt;": "<", "&gt;": ">", "&#34;": `"`, "&#39;": "'"}

// unescape returns what an attribute means, if it is written as a [statement.Renderer] does.
func unescape(value string) (string, bool) {
	if !strings.Contains(value, "&") {
		return value, true
	}
	var out strings.Builder
	for {
		before, _, ok := strings.Cut(value, "&")
		out.WriteString(before)
		if !ok {
			return out.String(), true
		}
		value = value[len(before):]
		e := reference.FindString(value)
		plain, known := escapes[e]
		if !known {
			return "", false
		}
		out.WriteString(plain)
		value = value[len(e):]
	}
}
