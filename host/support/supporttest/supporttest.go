// Package supporttest reads support bundles for tests.
package supporttest

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Files returns the files of a bundle by their names below its folder.
func Files(bundle io.Reader) (map[string]string, error) {
	z, err := gzip.NewReader(bundle)
	if err != nil {
		return nil, fmt.Errorf("unpack a bundle: %w", err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a bundle: %w", err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("read %s of a bundle: %w", h.Name, err)
		}
		folder, name, below := strings.Cut(h.Name, "/")
		if !below || folder == "" {
			return nil, fmt.Errorf("%q is not below the folder of the bundle", h.Name)
		}
		files[name] = string(data)
	}
}
