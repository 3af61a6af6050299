package site

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
)

// editorBundle is the source editor that `make build` makes.
const editorBundle = "dist/editor.js"

// formulaSheet is the style sheet of formulas that `make build` makes.
const formulaSheet = "dist/math.css"

var contentTypes = map[string]string{
	".css":   "text/css; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".ico":   "image/x-icon",
	".png":   "image/png",
	".json":  "application/json",
	".woff2": "font/woff2",
}

// assets serves the static files. Their addresses carry a digest of all of them,
// so browsers keep them for ever and never show an old one.
type assets struct {
	version string
	files   map[string]*asset // by path below static
}

type asset struct {
	kind   string
	plain  func() ([]byte, error) // unpacked once if it was embedded packed
	packed func() []byte          // gzip, or nil when that is not smaller; made once
}

// packedSuffix ends the names of files that are embedded as gzip made them. Their addresses do without.
const packedSuffix = ".gz"

func loadAssets(files fs.FS) (*assets, error) {
	a := &assets{files: map[string]*asset{}}
	sum := sha256.New()
	err := fs.WalkDir(files, "static", func(name string, d fs.DirEntry, err error) error {
		served, isPacked := strings.CutSuffix(name, packedSuffix)
		kind, known := contentTypes[path.Ext(served)]
		if err != nil || d.IsDir() || !known {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", name, len(body))
		_, _ = sum.Write(body) // a hash takes everything
		file := &asset{
			kind:   kind,
			plain:  func() ([]byte, error) { return body, nil },
			packed: sync.OnceValue(func() []byte { return pack(body) }),
		}
		if isPacked {
			file.plain, file.packed = sync.OnceValues(func() ([]byte, error) { return unpack(body) }), func() []byte { return body }
		}
		a.files[strings.TrimPrefix(served, "static/")] = file
		return nil
	})
	if err == nil {
		err = a.addWords(sum)
	}
	a.version = hex.EncodeToString(sum.Sum(nil))[:12]
	return a, err
}

// saidByScripts finds the sentences of scripts, which they say by t("…").
var saidByScripts = regexp.MustCompile(`\bt\(("(?:[^"\\]|\\.)*")`)

// addWords adds a script for each language but English, which holds what the other scripts say.
func (a *assets) addWords(sum io.Writer) error {
	said := map[string]bool{}
	for name, file := range a.files {
		if path.Dir(name) != "js" {
			continue
		}
		body, err := file.plain()
		if err != nil {
			return err
		}
		for _, m := range saidByScripts.FindAllSubmatch(body, -1) {
			key, err := strconv.Unquote(string(m[1]))
			if err != nil {
				return fmt.Errorf("%s says %s: %w", name, m[1], err)
			}
			said[key] = true
		}
	}
	if len(said) == 0 {
		return nil
	}
	for _, language := range locale.Languages()[1:] {
		body, err := json.Marshal(locale.For(language).Words(slices.Collect(maps.Keys(said))))
		if err != nil {
			return err
		}
		body = fmt.Appendf(nil, "globalThis.deepojWords = %s;\n", body)
		_, _ = sum.Write(body) // a hash takes everything
		a.files[wordsScript(language)] = &asset{
			kind:   contentTypes[".js"],
			plain:  func() ([]byte, error) { return body, nil },
			packed: sync.OnceValue(func() []byte { return pack(body) }),
		}
	}
	return nil
}

// wordsScript is the script of the sentences of a language.
func wordsScript(language string) string { return "js/words/" + language + ".js" }

// words returns the address of the script of a language's sentences; "" for English, whose sentences are the keys.
func (a *assets) words(language string) string {
	if a.files[wordsScript(language)] == nil {
		return ""
	}
	return a.url(wordsScript(language))
}

// pack returns body compressed, or nil if that gains nothing.
func pack(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(body)
	if err != nil || w.Close() != nil || out.Len() >= len(body) {
		return nil
	}
	return out.Bytes()
}

// unpack returns what body holds compressed.
func unpack(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// url returns the address of a static file.
func (a *assets) url(name string) string { return "/static/" + a.version + "/" + name }

func (a *assets) hasEditor() bool { return a.files[editorBundle] != nil }

// HasEditor reports whether the source editor was built.
func (s *Site) HasEditor() bool { return s.assets.hasEditor() }

// Static serves /static/VERSION/PATH.
func (s *Site) Static(c *fiber.Ctx) error {
	version, name, _ := strings.Cut(c.Params("*"), "/")
	return s.sendAsset(c, name, version == s.assets.version)
}

// Favicon serves the icon at the address that browsers guess.
func (s *Site) Favicon(c *fiber.Ctx) error { return s.sendAsset(c, "icon.svg", false) }

func (s *Site) sendAsset(c *fiber.Ctx, name string, current bool) error {
	file := s.assets.files[name]
	if file == nil {
		return fiber.ErrNotFound
	}
	cache := "no-cache" // an address of another version of the program
	if current {
		cache = "public, max-age=31536000, immutable"
	}
	c.Set(fiber.HeaderCacheControl, cache)
	c.Set(fiber.HeaderContentType, file.kind)
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if strings.Contains(c.Get(fiber.HeaderAcceptEncoding), "gzip") {
		if packed := file.packed(); packed != nil {
			c.Set(fiber.HeaderContentEncoding, "gzip")
			return c.Send(packed)
		}
	}
	body, err := file.plain()
	if err != nil {
		return fmt.Errorf("unpack the static file %s: %w", name, err)
	}
	return c.Send(body)
}
