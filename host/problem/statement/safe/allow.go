package safe

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Elements of HTML and of MathML that a statement is made of.
var (
	htmlElements = Names(`p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre code kbd samp var em strong b i u s del ins small
		a table caption colgroup col thead tbody tfoot tr th td br hr div span section sup sub figure figcaption img q cite abbr mark
		details summary`)
	mathElements = Names(`math semantics mrow mi mo mn ms mtext mspace mfrac msqrt mroot mstyle merror mpadded mphantom menclose
		mfenced msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr`)
)

// Element reports whether a statement may have an element.
func Element(name string) bool { return htmlElements[name] || mathElements[name] }

// voids are the elements without an end tag.
var voids = Names("br hr img col")

// blocks end a paragraph.
var blocks = Names(`p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre table hr div section figure figcaption details`)

// skipped are the elements that are left out with all that is in them.
var skipped = Names(`script style title textarea xmp iframe noembed noframes noscript template svg object audio video canvas select head plaintext applet`)

// Attributes by element; "" = of all elements of HTML.
var htmlAttributes = map[string]map[string]*regexp.Regexp{
	"":      {"class": nil, "title": anything, "lang": words, "dir": words, "id": ownID, "role": regexp.MustCompile(`^doc-(noteref|backlink|endnotes)$`)},
	"a":     {"href": anything},
	"table": {"tabindex": zero},
	"img":   {"src": anything, "alt": anything, "width": number, "height": number},
	"ol":    {"start": number, "type": words, "reversed": words},
	"li":    {"value": number},
	"td":    {"colspan": number, "rowspan": number},
	"th":    {"colspan": number, "rowspan": number, "scope": words},
	"col":   {"span": number},
	"abbr":  {},
}

// mathAttributes are those of MathML, which have values of a few forms.
var mathAttributes = Names(`class display displaystyle scriptlevel mathvariant mathsize stretchy fence separator symmetric largeop
	movablelimits accent accentunder form lspace rspace minsize maxsize width height depth voffset linethickness columnalign rowalign
	rowspacing columnspacing linebreak rowlines columnlines frame framespacing notation side columnspan rowspan align bevelled dir groupalign
	alignmentscope equalrows equalcolumns open close separators`)

var (
	anything  = regexp.MustCompile(`^[^\x00]*$`)
	zero      = regexp.MustCompile(`^0$`)
	words     = regexp.MustCompile(`^[A-Za-z0-9-]{0,20}$`)
	number    = regexp.MustCompile(`^-?[0-9]{1,5}$`)
	ownID     = regexp.MustCompile(`^fn(ref)?[0-9]*[:-][0-9]{1,6}$`)
	mathValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9 .%+|()\[\]{},;:-]{0,200}$`) })
)

// Classes that a statement may use. Their style sheet is statement.css of the web.
var classes = Names(`left center right top bottom nowrap small large mono caps source unknown illustration tabular row-line rows-end
	line-left line-right line-top line-bottom footnotes footnote-ref footnote-backref subfigure reflect ditto box epigraph
	math-italic math-bold math-serif depth-0 depth-2 depth-1 above below shift-left absolute relative flex-center fbox tag line-high
	line-left-dashed line-right-dashed line-top-dashed line-bottom-dashed line-left-double line-right-double line-top-double line-bottom-double
	menclose longdiv-top longdiv-arc phasor-bottom phasor-angle textcircle circle-pad actuarial upstrike downstrike sout mathscr oldstylenums
	ff-narrow ff-nudge-left ff-squash wbk-acc wbk-sml wbk-sml-acc wbk-sml-vec wbk-med wbk-med-acc wbk-med-vec wbk-lrg wbk-lrg-acc wbk-lrg-vec
	chr-sml chr-sml-vec chr-med chr-med-vec chr-lrg chr-lrg-vec special-fraction`)

// classForms are classes with a number, or of a family.
var classForms = regexp.MustCompile(`^(w(5|[1-9][05]|100)|z[1-9][05]|z(100|5|1[0-9][05]|200)|p[tblr](0|[1-9]|[12][0-9]|30)|m[lr]n?(0|[1-9]|[12][0-9]|30)|(ink|ground)-[a-z]+|tml-[a-z0-9-]{1,20}|language-[A-Za-z0-9+#_-]{1,30})$`)

// Names are those in a list.
func Names(list string) map[string]bool {
	m := map[string]bool{}
	for n := range strings.FieldsSeq(list) {
		m[n] = true
	}
	return m
}

// maxClasses is how many classes an element may have.
const maxClasses = 16

// allowedClasses returns those of an attribute's classes that a statement may use, each once.
func allowedClasses(value string) []string {
	var out []string
	for c := range strings.FieldsSeq(value) {
		if (classes[c] || classForms.MatchString(c)) && len(out) < maxClasses && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// allowed reports whether an element may have an attribute with a value. Classes are for the caller to look at.
func allowed(element, name, value string) bool {
	if element == "math" && name == "tabindex" {
		return value == "0"
	}
	if mathElements[element] {
		return mathAttributes[name] && (name == "class" || mathValue().MatchString(value))
	}
	form, known := htmlAttributes[element][name]
	if !known {
		form, known = htmlAttributes[""][name]
	}
	return known && (form == nil || form.MatchString(value)) && len(value) <= 4096
}

// schemes are what an address may begin with.
var schemes = Names("http https mailto")

// plainAddress reports whether a link goes to a page, here or elsewhere.
func plainAddress(link string) bool {
	for _, c := range link {
		if c < ' ' || c == 0x7f || c == '\\' {
			return false
		}
	}
	place := link
	if end := strings.IndexAny(link, "/?#"); end >= 0 {
		place = link[:end]
	}
	scheme, _, ok := strings.Cut(place, ":")
	return !ok || schemes[strings.ToLower(scheme)]
}

// PicturePlace is what the address of a picture looks like.
var PicturePlace = regexp.MustCompile(`^pictures/[0-9a-f]{64}\.(png|jpg|gif|svg)$`)
