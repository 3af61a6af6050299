package restore

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"

	"deepoj/host/judge"
)

// Bounds of what is handed in.
const (
	maxSources     = 100
	maxSourceBytes = 16 << 20  // unpacked, of one submission
	maxAllBytes    = 256 << 20 // of all together
)

// sources are the files of a submission, by the id that the package has for it.
func (r *reading) sources(id string) (out []judge.Source) {
	if r.handedIn > maxAllBytes {
		return nil // which was said
	}
	folder := "submissions/" + id + "/"
	names, _ := r.inFolder(folder)
	for _, name := range names {
		data := r.files[name]
		if !strings.HasSuffix(name, ".zip") {
			out = append(out, judge.Source{Name: path.Base(name), Text: string(data)})
			continue
		}
		inside, err := unzip(data)
		if err != nil {
			r.wrong("submissions.json", id, "%s: %v", name, err)
			return nil
		}
		out = append(out, inside...)
	}
	for _, s := range out {
		if !plainName.MatchString(s.Name) || s.Name == ".." {
			r.wrong("submissions.json", id, "%.100q is no name of a file", s.Name)
		}
		r.handedIn += int64(len(s.Text))
	}
	if r.handedIn > maxAllBytes {
		r.wrong("submissions.json", "", "what was handed in has more than %d MiB in all; leave the files of submissions out", maxAllBytes>>20)
	}
	if len(out) > maxSources {
		r.wrong("submissions.json", id, "it has more than %d files", maxSources)
	}
	return out
}

// plainName is what a source may be called.
var plainName = regexp.MustCompile(`^[^/\\\x00-\x1f]{1,200}$`)

// inFolder are the files of a folder of the package, in order.
func (r *reading) inFolder(folder string) (names []string, any bool) {
	if r.folders == nil {
		r.folders = map[string][]string{}
		for name := range r.files {
			at := name[:strings.LastIndexByte(name, '/')+1]
			r.folders[at] = append(r.folders[at], name)
		}
	}
	names = sortedNames(r.folders[folder])
	return names, len(names) > 0
}

// unzip reads an archive of sources, in its order. What it says of sizes is not believed.
func unzip(data []byte) (out []judge.Source, err error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, errors.New("it is no ZIP archive")
	}
	left := int64(maxSourceBytes)
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if !f.Mode().IsRegular() || len(out) == maxSources {
			return nil, errors.New("it has something else than files, or too many")
		}
		in, err := f.Open()
		if err != nil {
			return nil, errors.New("it cannot be read")
		}
		text, err := io.ReadAll(io.LimitReader(in, left+1))
		_ = in.Close()
		left -= int64(len(text))
		switch {
		case err != nil:
			return nil, errors.New("it cannot be read")
		case left < 0:
			return nil, errors.New("its files have too many bytes")
		}
		out = append(out, judge.Source{Name: path.Base(f.Name), Text: string(text)})
	}
	return out, nil
}
