package safe

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What an SVG file may be at most.
const (
	maxSVG      = 4 << 20 // bytes
	maxSVGDepth = 128     // elements in elements
	maxLeft     = 20      // names of what is left out
)

// Elements and attributes of a picture in SVG: what draws, and nothing that runs, loads or animates.
var (
	svgElements = Names(`svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan textPath image
		linearGradient radialGradient stop pattern clipPath mask marker style switch a
		filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight
		feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting
		feSpotLight feTile feTurbulence feDropShadow`)
	svgAttributes = Names(`id class style x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points width height viewBox preserveAspectRatio transform
		version fill fill-opacity fill-rule stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray
		stroke-dashoffset stroke-opacity opacity color display visibility overflow clip clip-path clip-rule mask filter marker-start
		marker-mid marker-end markerUnits markerWidth markerHeight refX refY orient gradientUnits gradientTransform spreadMethod offset
		stop-color stop-opacity patternUnits patternContentUnits patternTransform clipPathUnits maskUnits maskContentUnits font-family
		font-size font-style font-weight font-variant font-stretch text-anchor dominant-baseline alignment-baseline baseline-shift
		letter-spacing word-spacing text-decoration writing-mode dx dy rotate textLength lengthAdjust startOffset method spacing
		shape-rendering text-rendering image-rendering color-interpolation color-interpolation-filters vector-effect paint-order
		enable-background space lang filterUnits primitiveUnits in in2 result stdDeviation mode type values tableValues slope intercept
		amplitude exponent k1 k2 k3 k4 operator order kernelMatrix divisor bias targetX targetY edgeMode preserveAlpha surfaceScale
		diffuseConstant specularConstant specularExponent lighting-color azimuth elevation pointsAtX pointsAtY pointsAtZ z scale
		xChannelSelector yChannelSelector flood-color flood-opacity radius baseFrequency numOctaves seed stitchTiles mix-blend-mode
		isolation href pathLength`)
)

const (
	svgSpace   = "http://www.w3.org/2000/svg"
	xlinkSpace = "http://www.w3.org/1999/xlink"
)

// svgQuiet are parts of the files of drawing programs that nobody sees.
var svgQuiet = Names("metadata namedview perspective path-effect grid guide RDF Work sfw pgf")

// svgCleaner writes an SVG file again with what a picture may have.
type svgCleaner struct {
	out   bytes.Buffer
	depth int
	left  []string // what was left out
	style int      // depth of the element style that it is in
	begun bool
}

// SVG returns a picture without what runs or loads something, and names what it left out.
func SVG(content []byte) (clean []byte, left []string, err error) {
	if len(content) > maxSVG {
		return nil, nil, fmt.Errorf("it has more than %d MiB", maxSVG>>20)
	}
	in := xml.NewDecoder(bytes.NewReader(content))
	in.CharsetReader = func(charset string, r io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") || strings.EqualFold(charset, "iso-8859-1") {
			return latin{r}, nil
		}
		return nil, fmt.Errorf("it is in %s: save it in UTF-8", charset)
	}
	in.Entity = entities(content)
	c := &svgCleaner{}
	for {
		t, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.token(in, t)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if !c.begun {
		return nil, nil, errors.New("it holds no element svg")
	}
	return c.out.Bytes(), c.left, nil
}

// latin reads text in which each byte is a character.
type latin struct{ io.Reader }

func (l latin) Read(b []byte) (int, error) {
	half := make([]byte, len(b)/2)
	n, err := l.Reader.Read(half)
	at := 0
	for _, c := range half[:n] {
		at += copy(b[at:], string(rune(c)))
	}
	return at, err
}

var entityForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<!ENTITY\s+([A-Za-z_][A-Za-z0-9_.-]{0,60})\s+"([^"<>&%]{0,200})"`)
})

// entities returns the short names that drawing programs give to their name spaces.
func entities(content []byte) map[string]string {
	m := map[string]string{}
	for _, e := range entityForm().FindAllSubmatch(content[:min(len(content), 8<<10)], 50) {
		m[string(e[1])] = string(e[2])
	}
	return m
}

func (c *svgCleaner) token(in *xml.Decoder, t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return c.start(in, t)
	case xml.EndElement:
		if c.style == c.depth {
			c.style = 0
		}
		c.depth--
		c.out.WriteString("</" + t.Name.Local + ">")
	case xml.CharData:
		if c.depth == 0 {
			return nil
		}
		if c.style > 0 && !plainCSS(string(t)) {
			c.leave("style")
			return nil
		}
		return xml.EscapeText(&c.out, t)
	default: // comments, directives, instructions
	}
	return nil
}

func (c *svgCleaner) start(in *xml.Decoder, t xml.StartElement) error {
	name := t.Name.Local
	known := t.Name.Space == svgSpace || t.Name.Space == "" || t.Name.Space == "svg"
	if !known || !svgElements[name] || c.depth == 0 && name != "svg" {
		if known && !svgQuiet[name] {
			c.leave("<" + name + ">")
		}
		return in.Skip()
	}
	if c.depth++; c.depth > maxSVGDepth {
		return fmt.Errorf("it has more than %d elements in each other", maxSVGDepth)
	}
	if name == "style" {
		c.style = c.depth
	}
	c.out.WriteString("<" + name)
	if !c.begun {
		c.begun = true
		fmt.Fprintf(&c.out, ` xmlns="%s" xmlns:xlink="%s"`, svgSpace, xlinkSpace)
	}
	for _, a := range t.Attr {
		if err := c.attribute(name, a); err != nil {
			return err
		}
	}
	c.out.WriteByte('>')
	return nil
}

func (c *svgCleaner) attribute(element string, a xml.Attr) error {
	name := a.Name.Local
	switch {
	case a.Name.Space == "xmlns" || name == "xmlns":
		return nil
	case name == "href" && (a.Name.Space == xlinkSpace || a.Name.Space == "xlink" || a.Name.Space == ""):
		if element == "a" {
			return nil // nobody follows links in pictures
		}
		if !inner(element, a.Value) {
			c.leave(element + ".href")
			return nil
		}
		name = "xlink:href"
	case a.Name.Space == "http://www.w3.org/XML/1998/namespace" || a.Name.Space == "xml":
		if name != "space" && name != "lang" {
			return nil
		}
		name = "xml:" + name
	case a.Name.Space != "" && a.Name.Space != svgSpace:
		return nil // what drawing programs keep for themselves
	case !svgAttributes[name]:
		if strings.HasPrefix(strings.ToLower(name), "on") {
			c.leave(element + "." + name)
		}
		return nil
	case !plainCSS(a.Value):
		c.leave(element + "." + name)
		return nil
	}
	c.out.WriteString(" " + name + `="`)
	if err := xml.EscapeText(&c.out, []byte(a.Value)); err != nil {
		return err
	}
	c.out.WriteByte('"')
	return nil
}

func (c *svgCleaner) leave(what string) {
	if len(c.left) < maxLeft && !slices.Contains(c.left, what) {
		c.left = append(c.left, what)
	}
}

// innerPicture is a picture that lies in the file itself.
var innerPicture = regexp.MustCompile(`^data:image/(png|jpeg|jpg|gif);base64,[A-Za-z0-9+/=\s]*$`)

// inner reports whether a reference stays in the file.
func inner(element, reference string) bool {
	return strings.HasPrefix(reference, "#") || element == "image" && innerPicture.MatchString(reference)
}

// outside is what CSS and the values of attributes load things with.
var outside = regexp.MustCompile(`(?i)url\s*\(\s*["']?\s*[^#"'\s]|@import|expression|javascript:|image-set|image\(|src\(|\\`)

// plainCSS reports whether a text names nothing outside of its file.
func plainCSS(text string) bool { return !outside.MatchString(text) }
