// Package sitetest reads what rooms show, for their tests.
package sitetest

import (
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Rows has texts that people chose in every cell of long lists: whatever they are, a row has the elements and
// attributes that it has with plain words, and shows the texts as they are.
func Rows(f *testing.F, with func(text string) map[string]template.HTML) {
	f.Helper()
	f.Add(`<script>alert(1)</script>`)
	f.Add(`" onmouseover="alert(1)`)
	f.Add(`'><img src=x onerror=alert(1)>`)
	f.Add(`a&lt;b && c</td><td>`)
	f.Add("]]> <!-- \x01 ü 🙂")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, notXML) {
			return // no database gives these
		}
		for name, row := range with(text) {
			shape, shown := Row(t, row)
			plain, _ := Row(t, with("word")[name])
			if !slices.Equal(shape, plain) {
				t.Errorf("%s: %q makes the row\n%s", name, text, row)
			}
			if !strings.Contains(shown, text) {
				t.Errorf("%s does not show %q but %q", name, text, shown)
			}
		}
	})
}

// notXML reports what XML, with which rows are read here, cannot hold, or reads as something else.
func notXML(r rune) bool {
	return r < ' ' || r == 0x7f || r == utf8.RuneError || r >= 0xd800 && r < 0xe000 || r&0xfffe == 0xfffe
}

// Row returns the elements of a row with the names of their attributes, and its text.
func Row(t testing.TB, row template.HTML) (shape []string, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(row)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return shape, text
		}
		if err != nil {
			t.Fatalf("the row is broken, %v:\n%s", err, row)
		}
		switch token := token.(type) {
		case xml.StartElement:
			shape = append(shape, token.Name.Local)
			for _, a := range token.Attr {
				shape = append(shape, token.Name.Local+"/"+a.Name.Local)
			}
		case xml.CharData:
			text += string(token)
		case xml.Comment, xml.Directive, xml.ProcInst:
			shape = append(shape, "what no row has")
		}
	}
}
