package safe

import (
	"strings"
	"testing"
)

func TestAPictureInSVGIsCleaned(t *testing.T) {
	t.Parallel()
	const head = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:i="http://i.example">`
	const root = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">`
	for name, tt := range map[string]struct{ source, want, left string }{
		"what draws":             {`<g id="a"><path d="M0 0" style="fill:red"></path></g>`, `<g id="a"><path d="M0 0" style="fill:red"></path></g>`, ""},
		"a script":               {`<script>alert(1)</script><circle r="1"/>`, `<circle r="1"></circle>`, "<script>"},
		"an event handler":       {`<circle r="1" onload="alert(1)"/>`, `<circle r="1"></circle>`, "circle.onload"},
		"other HTML":             {`<foreignObject><p>x</p></foreignObject>`, ``, "<foreignObject>"},
		"a link to elsewhere":    {`<use xlink:href="http://x.example/#a"/><use href="#b"/>`, `<use></use><use xlink:href="#b"></use>`, "use.href"},
		"a picture in it":        {`<image href="data:image/png;base64,AA=="/><image href="data:image/svg+xml;base64,AA=="/>`, `<image xlink:href="data:image/png;base64,AA=="></image><image></image>`, "image.href"},
		"a style that loads":     {`<style>@import "http://x";</style><rect fill="url(http://x)"/><rect fill="url(#c)"/>`, `<style></style><rect></rect><rect fill="url(#c)"></rect>`, "style rect.fill"},
		"a style that is plain":  {`<style>.a{fill:#fff}</style>`, `<style>.a{fill:#fff}</style>`, ""},
		"notes of a program":     {`<i:pgf x="1">y</i:pgf><metadata>z</metadata><g i:label="q"/>`, `<g></g>`, ""},
		"an animation":           {`<set attributeName="href" to="javascript:x"/><animate/>`, ``, "<set> <animate>"},
		"text that is no markup": {`<text>a &lt;script&gt; &amp; b</text>`, `<text>a &lt;script&gt; &amp; b</text>`, ""},
		"links":                  {`<a xlink:href="javascript:x"><rect/></a>`, `<a><rect></rect></a>`, ""},
		"instructions":           {`<?xml-stylesheet href="http://x"?><!-- c --><rect/>`, `<rect></rect>`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean, left, err := SVG([]byte(head + tt.source + "</svg>"))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(clean), root+tt.want+"</svg>"; got != want {
				t.Errorf("it becomes\n%s\nand should be\n%s", got, want)
			}
			if got := strings.Join(left, " "); got != tt.left {
				t.Errorf("left out is %q, and should be %q", got, tt.left)
			}
		})
	}
	for name, source := range map[string]string{
		"no SVG":           `<p xmlns="http://www.w3.org/1999/xhtml">x</p>`,
		"broken":           head + "<g>",
		"too deep":         head + strings.Repeat("<g>", 200) + strings.Repeat("</g>", 200) + "</svg>",
		"unknown entities": `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + head + "<text>&a;</text></svg>",
		"too long":         head + strings.Repeat(" ", maxSVG) + "</svg>",
	} {
		if clean, _, err := SVG([]byte(source)); err == nil {
			t.Errorf("%s is taken for a picture: %.200s", name, clean)
		}
	}
}
