// Command pack makes an archive of WebAssembly modules, named as their files are without the extension:
//
//	pack ARCHIVE FILE.wasm...
//
// `make plugins` packs the language adapters with it. A file of the archive's name is replaced as a whole or not at all.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deepoj/plugins/archive"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: pack ARCHIVE FILE.wasm...")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(to string, files []string) error {
	var modules []archive.Module
	for _, file := range files {
		wasm, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		modules = append(modules, archive.Module{Name: strings.TrimSuffix(filepath.Base(file), ".wasm"), Wasm: wasm})
	}
	out, err := os.CreateTemp(filepath.Dir(to), ".pack-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // which is gone when all is well
	if err := archive.Pack(out, modules); err != nil {
		return err
	}
	if err := out.Chmod(0o644); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}
