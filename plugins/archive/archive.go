// Package archive keeps WebAssembly modules that have much in common in one file that is a fraction of their size: what
// they share, such as the runtime of a language, is in it once.
//
// The file begins with a table in plain text, one line for each module: the SHA-256 of the module in hexadecimal digits,
// its size in bytes and its name. After an empty line follow the modules in this order, as one Brotli stream. So names
// and digests are known without unpacking anything.
package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/andybalholm/brotli"
)

// Module is what goes into an archive.
type Module struct {
	Name string // without white space
	Wasm []byte
}

// The stream reaches back over several modules (2^window bytes), and takes the effort that pays: with more, packing
// takes ten times as long and saves a tenth.
const (
	window = 24
	effort = 9
)

// Pack writes the archive of modules to w. The same modules always make the same bytes.
func Pack(w io.Writer, modules []Module) error {
	modules = slices.SortedFunc(slices.Values(modules), func(a, b Module) int { return cmp.Compare(a.Name, b.Name) })
	for i, m := range modules {
		if m.Name == "" || strings.ContainsAny(m.Name, " \t\r\n") {
			return fmt.Errorf("pack module %q: its name must be one word", m.Name)
		}
		if i > 0 && m.Name == modules[i-1].Name {
			return fmt.Errorf("pack module %s: there are two of this name", m.Name)
		}
		if _, err := fmt.Fprintf(w, "%x %d %s\n", sha256.Sum256(m.Wasm), len(m.Wasm), m.Name); err != nil {
			return fmt.Errorf("pack module %s: %w", m.Name, err)
		}
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("pack modules: %w", err)
	}
	z := brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: effort, LGWin: window})
	for _, m := range modules {
		if _, err := z.Write(m.Wasm); err != nil {
			return fmt.Errorf("pack module %s: %w", m.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pack modules: %w", err)
	}
	return nil
}

// Archive is an archive in memory. It may be used by several goroutines.
type Archive struct {
	table  []entry
	packed []byte

	mu       sync.Mutex
	unpacked weak.Pointer[[][]byte] // as in table; whoever needs one soon needs the others
}

// entry is a line of the table.
type entry struct {
	name, digest string
	size         int64
}

// maxModule bounds the size of a module in a table, in bytes, so that a damaged table takes no memory.
const maxModule = 64 << 20

// Open reads the table of an archive, which must not be changed from then on.
func Open(file []byte) (*Archive, error) {
	a := &Archive{}
	for {
		line, rest, found := bytes.Cut(file, []byte("\n"))
		if !found {
			return nil, errors.New("open archive: its table has no end")
		}
		file = rest
		if len(line) == 0 {
			a.packed = file
			return a, nil
		}
		var e entry
		if _, err := fmt.Sscanf(string(line), "%64s %d %s", &e.digest, &e.size, &e.name); err != nil {
			return nil, fmt.Errorf("open archive: line %d of its table: %w", len(a.table)+1, err)
		}
		if _, err := hex.DecodeString(e.digest); err != nil || len(e.digest) != 2*sha256.Size || e.size < 0 || e.size > maxModule {
			return nil, fmt.Errorf("open archive: line %d of its table holds no digest and size", len(a.table)+1)
		}
		a.table = append(a.table, e)
	}
}

// Names returns the names of the modules, sorted.
func (a *Archive) Names() []string {
	names := make([]string, len(a.table))
	for i, e := range a.table {
		names[i] = e.name
	}
	return names
}

// Digest returns the digest of a module, as "sha256:" and 64 hexadecimal digits, or "" if there is none of this name.
func (a *Archive) Digest(name string) string {
	if i := a.find(name); i >= 0 {
		return "sha256:" + a.table[i].digest
	}
	return ""
}

// Read returns a module, which must not be changed. It has the digest that [Archive.Digest] says.
//
// All modules are unpacked for the first of them. The others stay in memory only until garbage is collected, so asking
// for one after the other costs little, and nothing later.
func (a *Archive) Read(name string) ([]byte, error) {
	i := a.find(name)
	if i < 0 {
		return nil, fmt.Errorf("there is no module %s in the archive: there are %s", name, strings.Join(a.Names(), ", "))
	}
	all, err := a.all()
	if err != nil {
		return nil, err
	}
	wasm, e := (*all)[i], a.table[i]
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != e.digest {
		return nil, fmt.Errorf("unpack module %s: the archive is damaged: the digest is %x and not %s", e.name, sum, e.digest)
	}
	return wasm, nil
}

// all returns the modules in the order of the table, and unpacks them if they were given back.
func (a *Archive) all() (*[][]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if all := a.unpacked.Value(); all != nil {
		return all, nil
	}
	all, err := a.unpack()
	if err != nil {
		return nil, err
	}
	a.unpacked = weak.Make(&all)
	return &all, nil
}

func (a *Archive) find(name string) int {
	return slices.IndexFunc(a.table, func(e entry) bool { return e.name == name })
}

// unpack returns the modules in the order of the table.
func (a *Archive) unpack() ([][]byte, error) {
	r := bufio.NewReader(brotli.NewReader(bytes.NewReader(a.packed)))
	all := make([][]byte, len(a.table))
	for i, e := range a.table {
		all[i] = make([]byte, e.size)
		if _, err := io.ReadFull(r, all[i]); err != nil {
			return nil, fmt.Errorf("unpack module %s: %w", e.name, err)
		}
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("unpack modules: the archive does not end with the last one: %w", cmp.Or(err, errors.New("more follows")))
	}
	return all, nil
}
