package icpc

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// constantName is what a constant may be called.
var constantName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Where constants stand: {{name}} and {{name.variant}}, and \constant{name} in TeX.
var (
	constantUse    = regexp.MustCompile(`\{\{([a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)?)\}\}`)
	constantUseTeX = regexp.MustCompile(`\\constant\{([a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)?)\}`)
)

// constants reads the constants of problem.yaml. One may have variants, such as how it
// is written in TeX, beside its value.
func (r *reader) constants(k *source.Keys) map[string]string {
	all := map[string]string{}
	for _, name := range k.Order {
		if !constantName.MatchString(name) {
			k.Refuse(name, "is no name of a constant: it must be of letters, digits and _, and not begin with a digit")
			continue
		}
		n := k.Node(name)
		if n != nil && n.Kind == yaml.MappingNode {
			variants := k.Mapping(name)
			if !slices.Contains(variants.Order, "value") {
				k.Refuse(name, "has variants and no value: write the value of {{%s}} beside them, as value", name)
			}
			for _, variant := range variants.Order {
				value, _ := variants.Text(variant)
				all[name+"."+variant] = value
				if variant == "value" {
					all[name] = value
				}
			}
			continue
		}
		if n == nil {
			k.Refuse(name, "has no value: give it a number or a string")
			continue
		}
		if value, ok := k.Text(name); ok {
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
	for i := range r.Package.Files {
		f := &r.Package.Files[i]
		if !takesConstants(f.Path) || f.Size > source.MaxText {
			continue
		}
		before := r.Text(f.Path)
		after := r.putInto(f.Path, before, values)
		if after == before {
			continue
		}
		if total += int64(len(after)); total > maxConstants || len(after) > source.MaxText {
			r.Refuse(f.Path, "", "is too long with its constants: a file may have %d MiB, all together %d MiB", source.MaxText>>20, maxConstants>>20)
			return
		}
		changed[f.Path] = []byte(after)
		f.Size = int64(len(after))
		r.Sizes[f.Path] = f.Size
	}
	r.Layer(&constantFS{FS: r.FS, changed: changed})
}

// takesConstants reports whether constants are put into a file.
func takesConstants(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "input_validators", outputValidator, problem.IncludeDir, source.SubmissionsDir:
		return name != submissionsYAML
	case NewStatementDir:
		return slices.Contains([]string{".md", ".tex"}, path.Ext(name))
	}
	return top == source.DataDir && path.Base(name) == testGroupYAML
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
			r.Warn(file, name, "is no constant of %s and stays as it is", source.ProblemYAML)
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
	return &constantFile{Reader: bytes.NewReader(b), info: source.FileInfo(name, int64(len(b)))}, nil
}

type constantFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *constantFile) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *constantFile) Close() error { return nil }
