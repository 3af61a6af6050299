package safe

import (
	"math"
	"strconv"
	"strings"
)

// textWidth is the width of a line in TeX, in centimetres, of which pictures on a page are a share.
const textWidth = 16

// pixelsPer are the units of lengths, in pixels of CSS.
var pixelsPer = map[string]float64{"px": 1, "": 1, "cm": 37.8, "mm": 3.78, "in": 96, "pt": 1.333, "bp": 1.333, "pc": 16, "em": 16, "rem": 16, "ex": 7}

// Number64 returns a number, 0 for what is none.
func Number64(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) {
		return 0
	}
	return n
}

// Pixels returns a length in pixels, as an attribute has it.
func Pixels(n, unit string) string {
	px := Number64(n) * pixelsPer[unit]
	return strconv.Itoa(int(math.Round(min(max(px, 1), 4000))))
}

// lines are the lengths of TeX that are as wide as the text.
var lines = []string{`\textwidth`, `\linewidth`, `\columnwidth`, `\hsize`, `\paperwidth`, `\pagewidth`}

// Share returns a length of TeX as a share of the width of the text, in percent.
func Share(length string) (float64, bool) {
	length = strings.ReplaceAll(length, " ", "")
	for _, line := range lines {
		if factor, ok := strings.CutSuffix(length, line); ok {
			if factor == "" {
				return 100, true
			}
			n := Number64(factor)
			return n * 100, n > 0
		}
	}
	m := LengthForm.FindStringSubmatch(length)
	switch {
	case m == nil:
		return 0, false
	case m[2] == "":
		n := Number64(m[1])
		return n * 100, n > 0 && n <= 1
	case m[2] == "%":
		return Number64(m[1]), true
	}
	cm := Number64(m[1]) * pixelsPer[m[2]] / pixelsPer["cm"]
	return min(cm/textWidth*100, 100), cm > 0
}
