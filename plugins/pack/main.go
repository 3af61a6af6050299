// Command pack makes the modules of the language adapters of the program that holds them all, one for each language,
// and an archive of them:
//
//	pack ARCHIVE PROGRAM.wasm FOLDER
//
// `make plugins` calls it. The modules are in FOLDER, too, named by their languages, for who wants to look at one. A
// file that is there is replaced as a whole or not at all.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"deepoj/plugins/abi"
	"deepoj/plugins/archive"
	"deepoj/plugins/languages"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: pack ARCHIVE PROGRAM.wasm FOLDER")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(to, program, folder string) error {
	wasm, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var modules []archive.Module
	for _, a := range languages.All() {
		var manifest bytes.Buffer
		if err := a.Run([]string{abi.OpDescribe}, nil, &manifest); err != nil {
			return fmt.Errorf("%s: %w", a.Manifest.Name, err)
		}
		m := archive.Module{Name: a.Manifest.Language.ID, Wasm: withManifest(wasm, bytes.TrimSpace(manifest.Bytes()))}
		modules = append(modules, m)
		if err := replace(filepath.Join(folder, m.Name+".wasm"), func(w io.Writer) error {
			_, err := w.Write(m.Wasm)
			return err
		}); err != nil {
			return err
		}
	}
	return replace(to, func(w io.Writer) error { return archive.Pack(w, modules) })
}

// withManifest returns a module with its manifest behind it, as a custom section.
func withManifest(wasm, manifest []byte) []byte {
	const custom = 0
	section := append(binary.AppendUvarint(nil, uint64(len(abi.Section))), abi.Section...)
	section = append(section, manifest...)
	return bytes.Join([][]byte{wasm, {custom}, binary.AppendUvarint(nil, uint64(len(section))), section}, nil)
}

// replace writes a file.
func replace(name string, write func(io.Writer) error) error {
	out, err := os.CreateTemp(filepath.Dir(name), ".pack-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // which is gone when all is well
	if err := write(out); err != nil {
		return err
	}
	if err := out.Chmod(0o644); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), name)
}
