package safe

import (
	"strconv"
	"strings"
)

// UnknownInk is the colour in which the library is told to write what it does not
// know, so that it can be told from what is coloured.
const UnknownInk = "#0badca"

// inks are the colours that a page has, each readable on its ground in the light and in
// the dark. Their places are where others are near.
var inks = []struct {
	name    string
	r, g, b int
}{
	{"red", 220, 30, 30},
	{"orange", 240, 140, 20},
	{"yellow", 225, 210, 30},
	{"green", 20, 150, 50},
	{"lime", 60, 235, 60},
	{"cyan", 20, 200, 220},
	{"blue", 30, 60, 220},
	{"purple", 130, 40, 160},
	{"magenta", 230, 40, 200},
	{"brown", 140, 80, 30},
	{"gray", 128, 128, 128},
	{"silver", 200, 200, 200},
	{"black", 0, 0, 0},
	{"white", 255, 255, 255},
	{"pink", 250, 180, 190},
}

// inkNames are names of colours in TeX and CSS that are not those of inks.
var inkNames = map[string]string{
	"grey": "gray", "darkgray": "gray", "lightgray": "silver", "darkgrey": "gray", "lightgrey": "silver", "violet": "purple", "teal": "cyan",
	"olive": "brown", "navy": "blue", "maroon": "red", "darkred": "red", "darkblue": "blue", "darkgreen": "green", "lightblue": "cyan",
	"lightgreen": "lime", "currentcolor": "black", "inherit": "black", "transparent": "white", "gold": "yellow", "aqua": "cyan", "fuchsia": "magenta",
	"forestgreen": "green", "royalblue": "blue", "brickred": "red", "dimgray": "gray", "crimson": "red", "indigo": "purple", "goldenrod": "orange",
}

// Colours returns the class of a colour of text, or of what is behind it.
func Colours(name, value string) ([]string, bool) {
	if value == UnknownInk {
		return []string{"unknown"}, true
	}
	ink, ok := inkOfColour(strings.ToLower(value))
	switch {
	case !ok:
		return nil, false
	case name == "color" && ink != "black" && ink != "white":
		return []string{"ink-" + ink}, true
	case name != "color" && ink != "white":
		return []string{"ground-" + ink}, true
	}
	return nil, true
}

// inkOfColour returns the ink that is nearest to a colour.
func inkOfColour(value string) (string, bool) {
	if other, ok := inkNames[value]; ok {
		return other, true
	}
	for _, k := range inks {
		if k.name == value {
			return k.name, true
		}
	}
	hex, ok := strings.CutPrefix(value, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if !ok || err != nil || len(hex) != 6 {
		return "", false
	}
	best, least := "", 1<<30
	for _, k := range inks {
		r, g, b := k.r-int(n>>16), k.g-int(n>>8&255), k.b-int(n&255)
		if far := r*r + g*g + b*b; far < least {
			best, least = k.name, far
		}
	}
	return best, true
}
