package pikiwidb

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/feed/rocks"
)

// Info is what a dump says of itself: the master, and the position in its binlog that goes on from the dump.
type Info struct {
	Host    string
	Port    uint16
	Filenum uint32
	Offset  uint64
}

// A Dump is one that has been found whole.
type Dump struct {
	Info      Info
	instances []*rocks.Checkpoint
}

const maxInfo = 4 << 10

// Open reads the dump in dir. Instances is how many the master said the database has, or 0.
func Open(dir string, instances int) (*Dump, error) {
	info, err := readInfo(filepath.Join(dir, "info"))
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		if slices.Contains([]string{"strings", "hashes", "lists", "sets", "zsets"}, e.Name()) {
			return nil, fmt.Errorf("dump %s: %w: the storage of 3.5 (folder %s); the master has to be of 4.x", dir, rocks.ErrUnsupported, e.Name())
		}
		if number, err := strconv.Atoi(e.Name()); err == nil && strconv.Itoa(number) == e.Name() && e.IsDir() {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	if instances == 0 {
		instances = max(1, len(numbers))
	}
	d := &Dump{Info: info}
	for number := range instances {
		if !slices.Contains(numbers, number) {
			d.Close()
			return nil, fmt.Errorf("dump %s: %w: instance %d of %d is missing; let the master dump again", dir, rocks.ErrDamaged, number, instances)
		}
		checkpoint, err := rocks.Open(filepath.Join(dir, strconv.Itoa(number)), map[string]rocks.Order{listComparator: compareListKeys})
		if err != nil {
			d.Close()
			return nil, err
		}
		d.instances = append(d.instances, checkpoint)
	}
	if len(numbers) > instances {
		d.Close()
		return nil, fmt.Errorf("dump %s: %w: it has %d instances and the master %d", dir, rocks.ErrDamaged, len(numbers), instances)
	}
	return d, nil
}

// Close lets go of the folder.
func (d *Dump) Close() {
	for _, checkpoint := range d.instances {
		checkpoint.Close()
	}
}

func readInfo(path string) (Info, error) {
	file, err := os.Open(path)
	if err != nil {
		return Info{}, fmt.Errorf("%w: a dump without info: %v", rocks.ErrDamaged, err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxInfo))
	if err != nil {
		return Info{}, err
	}
	info, err := parseInfo(string(content))
	if err != nil {
		return Info{}, fmt.Errorf("%s: %w: %v", path, rocks.ErrDamaged, err)
	}
	return info, nil
}

// parseInfo reads seconds, host, port, file number and offset; a term and an index may follow.
func parseInfo(content string) (info Info, err error) {
	lines := strings.Split(strings.TrimRight(content, "\n"), "\n")
	if len(lines) < 5 || len(lines) > 7 {
		return info, fmt.Errorf("info has %d lines and not 5 to 7", len(lines))
	}
	info.Host = lines[1]
	port, err := strconv.ParseUint(lines[2], 10, 16)
	if err != nil {
		return info, fmt.Errorf("info has the port %.20q", lines[2])
	}
	filenum, err := strconv.ParseUint(lines[3], 10, 32)
	if err != nil {
		return info, fmt.Errorf("info has the file number %.20q", lines[3])
	}
	if info.Offset, err = strconv.ParseUint(lines[4], 10, 64); err != nil {
		return info, fmt.Errorf("info has the offset %.20q", lines[4])
	}
	info.Port, info.Filenum = uint16(port), uint32(filenum)
	return info, nil
}
