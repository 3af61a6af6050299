package safe

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// LengthForm is a length or a share.
var LengthForm = regexp.MustCompile(`^(-?[0-9]*\.?[0-9]+)(em|ex|pt|px|cm|mm|in|pc|bp|mu|rem|%|)$`)

// emsPer are the units of lengths, in ems.
var emsPer = map[string]float64{"em": 1, "rem": 1, "ex": 0.43, "pt": 0.1, "bp": 0.1, "px": 1.0 / 16, "cm": 2.85, "mm": 0.285, "in": 7.2, "pc": 1.2, "mu": 1.0 / 18, "": 0}

// ems returns a length in ems.
func ems(s string) (float64, bool) {
	m := LengthForm.FindStringSubmatch(s)
	if m == nil || m[2] == "%" {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n * emsPer[m[2]], err == nil && (m[2] != "" || n == 0)
}

// tenths returns a length as the number in a class: tenths of an em, up to 30.
func tenths(s string) (string, bool) {
	n, ok := ems(s)
	return strconv.Itoa(int(math.Round(min(max(n, 0), 3) * 10))), ok
}

// WidthClass returns the class of a share of the width, in percent.
func WidthClass(percent float64) string {
	return "w" + strconv.Itoa(min(max(int(math.Round(percent/5))*5, 5), 100))
}

// ZoomClass returns the class of a picture that is shown larger or smaller.
func ZoomClass(factor float64) string {
	return "z" + strconv.Itoa(min(max(int(math.Round(factor*20))*5, 5), 200))
}

// styles returns the classes that say what a style attribute says. Of what no class
// says a note is made, except where it is about looks alone.
func (c *cleaner) styles(element, style string) []string {
	var out []string
	for decl := range strings.SplitSeq(style, ";") {
		name, value, ok := strings.Cut(decl, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.TrimSpace(value))
		if !ok || value == "" || len(out) > 20 {
			continue
		}
		value = strings.TrimSpace(strings.TrimSuffix(value, "!important"))
		found, known := classesOf(name, value)
		switch {
		case known || value == "undefined" || meaningless[name]:
		case name == "color" || name == "background-color":
			c.Note("uses colours that the page does not know, so that it shows none: %s", value)
		case mathElements[element]:
			c.Note("has formulas of which the page leaves a detail of the looks out: %s", name+":"+value)
		}
		out = append(out, found...)
	}
	return out
}

// meaningless are what the library writes by mistake.
var meaningless = Names("level max-size font-size")

// styleRules are what single declarations become. None = it means nothing here.
var styleRules = map[string]map[string]string{
	"display":         {"block math": "", "flex": "flex-center", "inline-block": "", "none": "", "inline-flex": ""},
	"text-align":      {"left": "left", "center": "center", "right": "right", "justify": "", "start": "left", "end": "right", "-webkit-left": "left", "-webkit-right": "right"},
	"vertical-align":  {"top": "top", "bottom": "bottom", "middle": "", "baseline": ""},
	"white-space":     {"nowrap": "nowrap", "pre": "nowrap", "pre-line": "", "normal": ""},
	"font-weight":     {"bold": "math-bold", "normal": "", "700": "math-bold", "600": "math-bold"},
	"font-style":      {"italic": "math-italic", "normal": ""},
	"font-variant":    {"small-caps": "caps"},
	"font-family":     {"cambria, 'times new roman', serif": "math-serif", "monospace": "mono"},
	"math-depth":      {"0": "depth-0", "1": "depth-1", "2": "depth-2"},
	"position":        {"absolute": "absolute", "relative": "relative"},
	"transform":       {"scalex(-1)": "reflect"},
	"float":           {"right": "right", "left": "left"},
	"justify-content": {"center": ""},
	"right":           {"0": ""}, "bottom": {"0": ""}, "left": {"0.1em": ""},
	"border":          {"1px solid": "box"},
	"border-collapse": {"collapse": "", "separate": ""},
	"height":          {"1em": "line-high"},
}

var borderForm = regexp.MustCompile(`^(?:[0-9.]+(?:em|px|pt)|thin|medium|thick)? ?(solid|dashed|double|dotted)(?: .*)?$`)

// classesOf returns the classes for a declaration of a style, if it is known.
func classesOf(name, value string) (out []string, known bool) {
	if rule, ok := styleRules[name]; ok {
		if class, ok := rule[value]; ok {
			if class != "" {
				out = append(out, class)
			}
			return out, true
		}
	}
	side, found := strings.CutPrefix(name, "padding")
	switch {
	case found:
		return paddings(side, value)
	case name == "margin-left" || name == "margin-right":
		n, ok := tenths(strings.TrimPrefix(value, "-"))
		sign := ""
		if strings.HasPrefix(value, "-") {
			sign = "n"
		}
		return []string{"m" + name[7:8] + sign + n}, ok
	case strings.HasPrefix(name, "border-") || name == "border":
		return borders(strings.TrimPrefix(strings.TrimPrefix(name, "border"), "-"), value)
	case name == "width" && strings.HasSuffix(value, "%"):
		share, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		return []string{WidthClass(share)}, err == nil
	case name == "color" || name == "background-color":
		return Colours(name, value)
	}
	return nil, false
}

// paddings returns classes for the padding of one side, or of all as CSS has them in one declaration.
func paddings(side, value string) ([]string, bool) {
	if side != "" {
		n, ok := tenths(value)
		if !ok || !Names("-top -bottom -left -right")[side] {
			return nil, false
		}
		return []string{"p" + side[1:2] + n}, true
	}
	v := strings.Fields(value)
	switch len(v) {
	case 1:
		v = []string{v[0], v[0], v[0], v[0]}
	case 2:
		v = []string{v[0], v[1], v[0], v[1]}
	case 4:
	default:
		return nil, false
	}
	var out []string
	for i, s := range []string{"t", "r", "b", "l"} {
		n, ok := tenths(v[i])
		if !ok {
			return nil, false
		}
		out = append(out, "p"+s+n)
	}
	return out, true
}

func borders(side, value string) ([]string, bool) {
	if value == "none" || value == "0" {
		return nil, true
	}
	m := borderForm.FindStringSubmatch(value)
	if m == nil {
		return nil, false
	}
	switch side {
	case "":
		return append([]string{"box"}, inkOf(value)...), true
	case "top", "bottom", "left", "right":
		class := "line-" + side
		switch m[1] {
		case "dashed", "dotted":
			class += "-dashed"
		case "double":
			class += "-double"
		}
		return []string{class}, true
	}
	return nil, false
}

func inkOf(border string) []string {
	parts := strings.Fields(border)
	out, _ := Colours("color", parts[len(parts)-1])
	return out
}
