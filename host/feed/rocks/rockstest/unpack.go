package rockstest

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"strings"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

// Unpack writes the files of a tar archive that is compressed with zstd into the folder dir.
func Unpack(dir, archive string) error {
	packed, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer packed.Close()
	plain, err := zstd.NewReader(packed)
	if err != nil {
		return err
	}
	defer plain.Close()
	files := fstest.MapFS{}
	for from := tar.NewReader(plain); ; {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return os.CopyFS(dir, files)
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		files[strings.TrimPrefix(header.Name, "./")] = &fstest.MapFile{Data: content, Mode: 0o600}
	}
}
