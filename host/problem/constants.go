package problem

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// constantName is what a constant may be called.
var constantName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Where constants stand: {{name}} and {{name.variant}}, and \constant{name} in TeX.
var (
	constantUse    = regexp.MustCompile(`\{\{([a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)?)\}\}`)
	constantUseTeX = regexp.MustCompile(`\\constant\{([a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)?)\}`)
)

// constants reads the constants of problem.yaml. Variants of one constant, such
// as how it is written in TeX, exist in the format of 2023-07 only.
func (r *reader) constants(k *keys) map[string]string {
	all := map[string]string{}
	for _, name := range k.order {
		if !constantName.MatchString(name) {
			k.refuse(name, "is no name of a constant: it must be of letters, digits and _, and not begin with a digit")
			continue
		}
		n := k.node(name)
		if n != nil && n.Kind == yaml.MappingNode && r.p.Format == Format202307 {
			variants := k.mapping(name)
			for _, variant := range variants.order {
				value, _ := variants.text(variant)
				all[name+"."+variant] = value
				if variant == "value" {
					all[name] = value
				}
			}
			continue
		}
		if n == nil {
			k.refuse(name, "has no value: give it a number or a string")
			continue
		}
		if value, ok := k.text(name); ok {
			all[name] = value
		}
	}
	return all
}

// maxConstants bounds the files that hold constants, in bytes together.
const maxConstants = 64 << 20

// putConstants puts the values of constants into the files that the format names.
// From here on the package has these contents and no others.
func (r *reader) putConstants(values map[string]string) {
	if len(values) == 0 {
		return
	}
	changed := map[string][]byte{}
	total := int64(0)
	for i := range r.p.Files {
		f := &r.p.Files[i]
		if !takesConstants(f.Path) || f.Size > maxText {
			continue
		}
		before := r.text(f.Path)
		after := r.putInto(f.Path, before, values)
		if after == before {
			continue
		}
		if total += int64(len(after)); total > maxConstants || len(after) > maxText {
			r.refuse(f.Path, "", "is too long with its constants: a file may have %d MiB, all together %d MiB", maxText>>20, maxConstants>>20)
			return
		}
		changed[f.Path] = []byte(after)
		f.Size = int64(len(after))
		r.all[f.Path] = f.Size
	}
	r.fsys = &constantFS{FS: r.fsys, changed: changed}
	r.p.src = r.fsys
}

// takesConstants reports whether constants are put into a file.
func takesConstants(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "input_validators", outputValidator, includeDir, submissionsDir:
		return name != submissionsYAML
	case newStatementDir:
		return slices.Contains([]string{".md", ".tex"}, path.Ext(name))
	}
	return top == dataDir && path.Base(name) == testGroupYAML
}

// putInto returns a text with the values of its constants.
func (r *reader) putInto(file, text string, values map[string]string) string {
	use := constantUse
	if path.Ext(file) == ".tex" {
		use = constantUseTeX
	}
	unknown := map[string]bool{}
	text = use.ReplaceAllStringFunc(text, func(s string) string {
		name := use.FindStringSubmatch(s)[1]
		value, ok := values[name]
		if !ok {
			unknown[name] = name != "nextsample" && name != "remainingsamples"
			return s
		}
		return value
	})
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		if unknown[name] {
			r.warn(file, name, "is no constant of %s and stays as it is", problemYAML)
		}
	}
	return text
}

// constantFS is a package with the values of its constants.
type constantFS struct {
	fs.FS
	changed map[string][]byte
}

// Open implements fs.FS.
func (c *constantFS) Open(name string) (fs.File, error) {
	b, ok := c.changed[name]
	if !ok {
		return c.FS.Open(name)
	}
	return &constantFile{Reader: bytes.NewReader(b), info: entry{name: path.Base(name), size: int64(len(b))}}, nil
}

type constantFile struct {
	*bytes.Reader
	info entry
}

func (f *constantFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *constantFile) Close() error               { return nil }
