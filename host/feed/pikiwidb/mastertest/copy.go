package mastertest

import (
	"bufio"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// dump is one that was made.
type dump struct {
	dir   string
	at    wal.Position
	uuid  string
	files []string
}

// makeDump makes a dump of what the database has now; m.mu is held.
func (m *Master) makeDump(db *database) error {
	m.made++
	dir := filepath.Join(m.options.DumpDir, fmt.Sprintf("%s-%d", db.name, m.made))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	write := m.options.Dump
	if write == nil {
		write = m.writeDump
	}
	if err := write(dir, db.name, db.log.end); err != nil {
		return err
	}
	d := &dump{dir: dir, at: db.log.end}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		d.files = append(d.files, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	info, err := os.ReadFile(filepath.Join(dir, "info"))
	if err != nil {
		return err
	}
	sum := md5.Sum(info)
	d.uuid = hex.EncodeToString(sum[:])
	db.dump = d
	return nil
}

// handOut serves a connection of the copy.
func (m *Master) handOut(tcp net.Conn) error {
	in := bufio.NewReader(tcp)
	var r wire.CopyRequest
	for {
		frame, err := wire.ReadFrame(in, nil, 1<<20)
		if err != nil {
			return nil //nolint:nilerr // the connection has ended
		}
		if err := r.Parse(frame); err != nil {
			return err
		}
		a, mute, err := m.copyAnswer(&r)
		if err != nil {
			return err
		}
		if !mute {
			_, _ = tcp.Write(wire.AppendFrame(nil, a.Append)) // reading tells of a connection that broke
		}
	}
}

func (m *Master) copyAnswer(r *wire.CopyRequest) (a *wire.CopyAnswer, mute bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	db, err := m.db(r.DB)
	if err != nil {
		return nil, false, err
	}
	a = &wire.CopyAnswer{Kind: r.Kind, Reader: r.Reader, DB: r.DB, Code: wire.Error}
	switch {
	case m.faults.DumpBusy > 0:
		m.faults.DumpBusy--
	case db.dump == nil:
	case r.Kind == wire.List:
		a.Code, a.UUID, a.Files = wire.OK, db.dump.uuid, db.dump.files
		if m.faults.File != "" {
			a.Files = append([]string{m.faults.File}, a.Files...)
		}
	default:
		if err := m.part(db, r, a); err != nil {
			return nil, false, err
		}
	}
	if m.faults.Copy != nil {
		m.faults.Copy(a)
	}
	return a, m.faults.Mute, nil
}

// part fills in a part of a file; m.mu is held.
func (m *Master) part(db *database, r *wire.CopyRequest, a *wire.CopyAnswer) error {
	if m.parts++; m.faults.Replace > 0 && m.parts >= m.faults.Replace {
		m.faults.Replace = 0
		if err := m.makeDump(db); err != nil {
			return err
		}
	}
	m.count("part")
	a.UUID = db.dump.uuid
	if !filepath.IsLocal(r.File) {
		return fmt.Errorf("the file %q is asked for", r.File)
	}
	f, err := os.Open(filepath.Join(db.dump.dir, filepath.FromSlash(r.File)))
	if err != nil {
		return nil
	}
	defer f.Close()
	data := make([]byte, min(r.Count, wire.ChunkBytes))
	n, err := f.ReadAt(data, int64(r.Offset))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	a.Code = wire.OK
	a.Chunk = &wire.Chunk{End: err != nil, Count: uint64(n), Offset: r.Offset, Data: data[:n], File: r.File}
	return nil
}
