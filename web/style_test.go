package web

import (
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// palettes reads the custom properties of the light, the automatic dark and the
// chosen dark palette from the style sheet.
func palettes(t *testing.T) []map[string]string {
	t.Helper()
	css, err := siteFiles.ReadFile("static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, block := range regexp.MustCompile(`(?s):root[^{]*\{([^}]*)\}`).FindAllStringSubmatch(string(css), -1) {
		colours := map[string]string{}
		for _, p := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(block[1], -1) {
			colours[p[1]] = p[2]
		}
		out = append(out, colours)
	}
	return out
}

// luminance is the relative luminance of WCAG 2.
func luminance(hex string) float64 {
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestEveryTextIsReadable(t *testing.T) {
	t.Parallel()
	all := palettes(t)
	if len(all) != 3 {
		t.Fatalf("the style sheet has %d palettes, want 3", len(all))
	}
	if fmt.Sprint(all[1]) != fmt.Sprint(all[2]) {
		t.Error("the chosen dark palette differs from the automatic one")
	}
	for i, name := range []string{"light", "dark"} {
		p := all[i]
		if contrast(p["on-accent"], p["accent"]) < 4.5 {
			t.Errorf("%s: text on the accent has a contrast of %.2f", name, contrast(p["on-accent"], p["accent"]))
		}
		for _, text := range []string{
			"text", "muted", "accent", "good", "bad", "slow", "memory", "output", "crash", "compile", "ours",
			"syn-keyword", "syn-string", "syn-number", "syn-comment", "syn-type", "syn-function",
		} {
			for _, ground := range []string{"bg", "surface", "raised", "field", "active-line"} {
				if c := contrast(p[text], p[ground]); c < 4.5 {
					t.Errorf("%s: --%s on --%s has a contrast of %.2f, want 4.5", name, text, ground, c)
				}
			}
		}
		if c := contrast(p["line-strong"], p["field"]); c < 3 {
			t.Errorf("%s: borders of fields have a contrast of %.2f, want 3", name, c)
		}
	}
}

func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<script(>|\s+[^>]*>[^<])|<style|\sstyle=|\son[a-z]+=|javascript:`)
	err := fs.WalkDir(siteFiles, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/dist/") {
			return err
		}
		body, err := fs.ReadFile(siteFiles, name)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(body), `xmlns="http://www.w3.org/2000/svg"`, "")
		if strings.Contains(text, "http://") || strings.Contains(text, "https://") || strings.Contains(text, `"//`) {
			t.Errorf("%s names another server", name)
		}
		if strings.HasSuffix(name, ".html") && inline.MatchString(text) {
			t.Errorf("%s has an inline script or style: %q", name, inline.FindString(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
