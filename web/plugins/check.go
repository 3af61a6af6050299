package plugins

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"sync"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// What an upload of a plugin may have.
const (
	maxModule      = 16 << 20 // bytes
	maxPluginFiles = 64
	maxPluginText  = 4 << 20 // bytes of all sources
)

// dialects are the protocols of plugins by kind; the first is that of sources that name none.
var dialects = map[string][]string{
	"checker":    {"testlib/1", "icpc/1"},
	"interactor": {"testlib/1", "icpc/1"},
	"toolchain":  {"plan/1"},
}

// Kinds are the kinds in the order in which people choose.
var Kinds = []string{"checker", "interactor", "toolchain"}

// What a manifest may say of itself.
var (
	pluginName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })
	pluginVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,49}$`) })
)

// pluginLanguages are the languages whose sources are compiled to plugins, by
// file name extension. Files with others, such as headers, only come along.
var pluginLanguages = map[string]string{".c": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".go": "Go"}

// isModule reports whether a file is a WebAssembly module, whatever its name.
func isModule(f judge.PluginFile) bool { return bytes.HasPrefix(f.Data, []byte("\x00asm")) }

// fromSources reports whether the plugin has to be compiled.
func (u *upload) fromSources() bool { return !slices.ContainsFunc(u.Files, isModule) }

// check returns what is wrong with an upload, and completes what sources may
// leave out. Whether the problem exists is for the caller to say.
func (u *upload) check() site.WrongFields {
	var wrong site.WrongFields
	protocols := dialects[u.Kind]
	if protocols == nil {
		wrong.Add(site.WrongField("kind", site.ReasonUnknown, "There is no kind %q; there are %s.", site.Shorten(u.Kind), judge.Names(Kinds)))
	} else if u.Protocol != "" && !slices.Contains(protocols, u.Protocol) {
		wrong.Add(site.WrongField("protocol", site.ReasonUnknown, "A plugin of kind %s speaks one of these protocols, not %q: %s.", kindText(u.Kind), site.Shorten(u.Protocol), judge.Names(protocols)))
	}
	sources := u.fromSources()
	if u.Protocol == "" && sources && protocols != nil {
		u.Protocol = protocols[0]
	}
	switch {
	case u.Name == "" && sources:
		wrong.Add(site.WrongField("name", site.ReasonMissing, "Sources need a name, such as org.example.tokens."))
	case u.Name != "" && !pluginName().MatchString(u.Name):
		wrong.Add(site.WrongField("name", site.ReasonInvalid, "A name has letters, digits, dots, hyphens and underscores, at most 100, such as org.example.tokens."))
	}
	switch {
	case u.Version == "" && sources:
		wrong.Add(site.WrongField("version", site.ReasonMissing, "Sources need a version, such as 1.0.0."))
	case u.Version != "" && !pluginVersion().MatchString(u.Version):
		wrong.Add(site.WrongField("version", site.ReasonInvalid, "A version has digits, letters, dots, hyphens and plus signs, at most 50, such as 1.2.0."))
	}
	wrong = append(wrong, checkFiles(u.Files)...)
	wrong.Add(u.Key.Check())
	return wrong
}

func checkFiles(files []judge.PluginFile) (wrong site.WrongFields) {
	if len(files) == 0 {
		wrong.Add(site.WrongField("files", site.ReasonEmpty, "Choose a .wasm module, or sources in C, C++ or Go with their headers."))
		return wrong
	}
	if len(files) > maxPluginFiles {
		wrong.Add(site.WrongField("files", "too_many", "There are %d files; at most %d are taken.", len(files), maxPluginFiles))
		return wrong
	}
	names := map[string]bool{}
	for _, f := range files {
		wrong.Add(site.CheckFileName("files", f.Name, names, true))
	}
	if slices.ContainsFunc(files, isModule) {
		switch {
		case len(files) > 1:
			wrong.Add(site.WrongField("files", "mixed", "A module comes alone: send either one .wasm file or sources."))
		case len(files[0].Data) > maxModule:
			wrong.Add(site.WrongField("files", site.ReasonTooLong, "The module has %d bytes; at most %s are taken.", len(files[0].Data), locale.Bytes(maxModule)))
		}
		return wrong
	}
	wrong.Add(checkPluginSources(files))
	return wrong
}

func checkPluginSources(files []judge.PluginFile) *judge.FieldError {
	total, filled := 0, false
	languages := map[string]bool{}
	for _, f := range files {
		total += len(f.Data)
		if path.Ext(f.Name) == ".wasm" {
			return site.WrongField("files", site.ReasonInvalid, "%s is no WebAssembly module: it does not begin with the bytes 00 61 73 6d.", site.Shorten(f.Name))
		}
		if bytes.IndexByte(f.Data, 0) >= 0 {
			return site.WrongField("files", site.ReasonNUL, "%s has a NUL byte; send source text, not a compiled file.", site.Shorten(f.Name))
		}
		if language := pluginLanguages[path.Ext(f.Name)]; language != "" {
			languages[language] = true
			filled = filled || len(bytes.TrimSpace(f.Data)) > 0
		}
	}
	switch {
	case total > maxPluginText:
		return site.WrongField("files", site.ReasonTooLong, "The sources have %d bytes together; at most %s are taken.", total, locale.Bytes(maxPluginText))
	case len(languages) == 0:
		return site.WrongField("files", "no_source", "There is no .c, .cpp or .go file to compile, and no .wasm module.")
	case len(languages) > 1:
		return site.WrongField("files", "mixed", "The sources are of several languages; send those of one.")
	case !filled:
		return site.WrongField("files", site.ReasonEmpty, "The source files are empty.")
	}
	return nil
}
