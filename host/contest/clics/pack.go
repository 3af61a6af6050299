package clics

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
)

// Package is a contest package: what the endpoints of a contest answer, and the files that they name, by path. api.json is the
// API's, contest.json the contest's, teams.json what the endpoint teams answers, event-feed.ndjson the feed, and
// submissions/7/files.zip the file files.zip of submission 7.
//
// Source: Contest Package Format, release 2026-01.
type Package map[string][]byte

// Bounds of a package.
const (
	maxPackageFiles = 100_000
	maxPackageBytes = 512 << 20 // unpacked
	maxPackageFile  = 256 << 20
	// Of the JSON in it, so that what is read does not take many times as much memory: a contest of 100,000 runs has a fifth.
	maxPackageObjects = 3_000_000
	maxPackageValues  = 32_000_000
)

// written is the time that every file of an archive has, so that the same package is the same archive.
var written = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Write writes the package as a ZIP archive: the same bytes for the same files.
func (p Package) Write(w io.Writer) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		method := zip.Deflate
		if strings.HasSuffix(name, ".zip") {
			method = zip.Store
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: written})
		if err == nil {
			_, err = f.Write(p[name])
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return z.Close()
}

// PackSources packs what was handed in as an archive, files.zip: the same bytes for the same sources.
func PackSources(sources []judge.Source) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, s := range sources {
		f, err := z.CreateHeader(&zip.FileHeader{Name: s.Name, Method: zip.Deflate, Modified: written})
		if err == nil {
			_, err = io.WriteString(f, s.Text)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// ReadPackage reads a package from a ZIP archive, with or without one folder around it. What the archive says of sizes is not
// believed. Of files of which but says so, if it is not nil, there is only the name.
func ReadPackage(r io.ReaderAt, size int64, but func(name string) bool) (Package, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("it is no ZIP archive: %w", err)
	}
	p, left, objects, values := Package{}, int64(maxPackageBytes), 0, 0
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if len(p) == maxPackageFiles {
			return nil, fmt.Errorf("it has more than %d files", maxPackageFiles)
		}
		if !f.Mode().IsRegular() || path.Clean(f.Name) != f.Name || path.IsAbs(f.Name) || strings.HasPrefix(f.Name, "..") || strings.Contains(f.Name, "\\") {
			return nil, fmt.Errorf("it has %.100q, which is no plain path of a file", f.Name)
		}
		if _, twice := p[f.Name]; twice {
			return nil, fmt.Errorf("it has %.100q twice", f.Name)
		}
		if but != nil && but(f.Name) {
			p[f.Name] = []byte{}
			continue
		}
		data, err := readFile(f, min(left, maxPackageFile))
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		if !strings.HasSuffix(f.Name, "json") {
			p[f.Name] = data
			continue
		}
		more := bytes.Count(data, []byte("{")) + bytes.Count(data, []byte("["))
		objects += more
		values += more + bytes.Count(data, []byte(","))
		if objects > maxPackageObjects || values > maxPackageValues {
			return nil, fmt.Errorf("%s: %w: its files have more than %d objects and lists, or more than %d values", f.Name, errTooLarge, maxPackageObjects, maxPackageValues)
		}
		p[f.Name] = data
	}
	p = p.unfolded()
	if err := p.fromYAML(); err != nil {
		return nil, err
	}
	if p["contest.json"] == nil && p[feedFile] != nil {
		return OfFeed(p[feedFile])
	}
	return p, nil
}

func ofProblems(name string) bool { return strings.Contains("/"+name, "/problems/") }

// errTooLarge is the cause of a package that is not read.
var errTooLarge = errors.New("it is larger than a package may be")

func readFile(f *zip.File, most int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer func() { _ = in.Close() }()
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%s: %w", f.Name, errTooLarge)
	}
	return data, nil
}

// unfolded is the package without the folder in which all of it is.
func (p Package) unfolded() Package {
	if p["contest.json"] != nil || p["contest.yaml"] != nil || p["api.json"] != nil {
		return p
	}
	out := Package{}
	around := ""
	for name, data := range p {
		folder, rest, ok := strings.Cut(name, "/")
		if !ok || around != "" && folder != around {
			return p
		}
		around, out[rest] = folder, data
	}
	return out
}
