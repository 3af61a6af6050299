package replica

import (
	"bufio"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/pikiwidb"
	"deepoj/host/feed/pikiwidb/wire"
)

const (
	mostFiles     = 16 << 20                   // of the list of files, in bytes
	mostChunk     = wire.ChunkBytes + 64<<10   // of a part of a file, with what is around it
	mostName      = 1 << 10                    // of a file's name
	tries         = 3                          // of a dump that is replaced while it is copied
	dumpWait      = 10 * time.Minute           // for the master to make a dump
	progressEvery = 5 * time.Second            // in the log
	owned         = ".dump-of-the-change-feed" // a file in folders that may be emptied
)

// errReplaced means that the master made another dump meanwhile.
var errReplaced = errors.New("the master has made another dump while this one was copied")

// copying is the copy of one dump.
type copying struct {
	source *Source
	reader *bufio.Reader
	send   func(*wire.CopyRequest) error
	buf    []byte
	root   *os.Root
	uuid   string
	bytes  int64
	said   time.Time
}

// fetch copies the dump that the master makes, and opens it.
func (ss *session) fetch(ctx context.Context) (*pikiwidb.Dump, error) {
	s := ss.source
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ss.conn.broken, func() { cancel(context.Cause(ss.conn.broken)) })()
	for n := 1; ; n++ {
		err := s.copyDump(ctx)
		switch {
		case err == nil:
			dump, err := pikiwidb.Open(s.dir, ss.instances)
			if err != nil {
				return nil, fmt.Errorf("dump_dir: %w", err)
			}
			return dump, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.Is(err, errReplaced) || n == tries:
			return nil, fmt.Errorf("copy the dump of %s: %w", s.db, err)
		}
		s.log.WarnContext(ctx, "the copy of the dump starts over", slog.String("db", s.db), slog.Any("err", err))
	}
}

// copyDump copies the dump that is there now.
func (s *Source) copyDump(ctx context.Context) error {
	root, err := s.emptyFolder()
	if err != nil {
		return err
	}
	defer root.Close()
	tcp, err := s.dialMaster(ctx, wire.CopySpan)
	if err != nil {
		return err
	}
	defer tcp.Close()
	defer context.AfterFunc(ctx, func() { _ = tcp.Close() })()
	c := &copying{source: s, root: root, reader: bufio.NewReaderSize(patient{tcp, s.idle}, readBuffer), said: time.Now()}
	c.send = func(r *wire.CopyRequest) error {
		if err := tcp.SetWriteDeadline(time.Now().Add(s.idle)); err != nil {
			return err
		}
		_, err := tcp.Write(wire.AppendFrame(nil, r.Append))
		return err
	}
	files, err := c.list(ctx)
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := c.file(ctx, name); err != nil {
			return err
		}
	}
	s.log.InfoContext(ctx, "the dump is copied", slog.String("db", s.db), slog.Int("files", len(files)), slog.Int64("bytes", c.bytes))
	return c.verify()
}

// ask sends a request and reads the answer to it.
func (c *copying) ask(r *wire.CopyRequest, most int) (a wire.CopyAnswer, err error) {
	r.DB = c.source.db
	if err := c.send(r); err != nil {
		return a, err
	}
	if c.buf, err = wire.ReadFrame(c.reader, c.buf, most); err != nil {
		return a, told(err)
	}
	if err := a.Parse(c.buf); err != nil {
		return a, err
	}
	if a.Kind != r.Kind || a.DB != r.DB {
		return a, fmt.Errorf("the master answers for the database %s, and %s was asked for", bounded(a.DB), r.DB)
	}
	return a, nil
}

// list asks which files the dump has, until it is made.
func (c *copying) list(ctx context.Context) ([]string, error) {
	late := time.Now().Add(dumpWait)
	for {
		a, err := c.ask(&wire.CopyRequest{Kind: wire.List}, mostFiles)
		if err != nil {
			return nil, err
		}
		if a.Code == wire.OK {
			c.uuid = a.UUID
			return a.Files, checkNames(a.Files)
		}
		if time.Now().After(late) {
			return nil, fmt.Errorf("the master has not made a dump within %s", dumpWait)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(c.source.again):
		}
	}
}

// checkNames refuses names that lead elsewhere: they come from the network.
func checkNames(files []string) error {
	seen := map[string]bool{}
	for _, name := range files {
		switch {
		case len(name) > mostName, !filepath.IsLocal(name), strings.ContainsAny(name, "\\\x00"), path.Clean(name) != name:
			return fmt.Errorf("the master's dump has a file %.200q, which is no name in its folder", name)
		case seen[name]:
			return fmt.Errorf("the master's dump has the file %.200q twice", name)
		}
		seen[name] = true
	}
	if !seen["info"] {
		return errors.New("the master's dump has no file info")
	}
	return nil
}

// file copies one file.
func (c *copying) file(ctx context.Context, name string) (err error) {
	if err := c.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("dump_dir: %w", err)
	}
	f, err := c.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("dump_dir: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for at := uint64(0); ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part, err := c.part(name, at)
		if err != nil {
			return err
		}
		if _, err := f.Write(part.Data); err != nil {
			return fmt.Errorf("dump_dir: %w", err)
		}
		at += part.Count
		c.bytes += int64(len(part.Data))
		c.progress()
		if part.End {
			return nil
		}
	}
}

// part asks for what of a file begins at an offset.
func (c *copying) part(name string, at uint64) (*wire.Chunk, error) {
	a, err := c.ask(&wire.CopyRequest{Kind: wire.Part, File: name, Count: wire.ChunkBytes, Offset: at}, mostChunk)
	if err != nil {
		return nil, fmt.Errorf("file %s: %w", name, err)
	}
	part := a.Chunk
	switch {
	case a.UUID != c.uuid:
		return nil, errReplaced
	case a.Code != wire.OK || part == nil:
		return nil, fmt.Errorf("file %s: the master does not hand it out from byte %d on", name, at)
	case part.File != name || part.Offset != at:
		return nil, fmt.Errorf("file %s: byte %d was asked for, and the master sends byte %d of %.200q", name, at, part.Offset, part.File)
	case part.Count != uint64(len(part.Data)):
		return nil, fmt.Errorf("file %s: the master says that it sends %d bytes, and %d came", name, part.Count, len(part.Data))
	case part.Count == 0 && !part.End:
		return nil, fmt.Errorf("file %s: the master sends nothing from byte %d on, and says that it does not end there", name, at)
	}
	if sum := md5.Sum(part.Data); len(part.Sum) == hex.EncodedLen(len(sum)) && !strings.EqualFold(part.Sum, hex.EncodeToString(sum[:])) {
		return nil, fmt.Errorf("file %s: what came from byte %d on does not match its checksum", name, at)
	}
	return part, nil
}

func (c *copying) progress() {
	if time.Since(c.said) < progressEvery {
		return
	}
	c.said = time.Now()
	c.source.log.Info("copying the dump", slog.String("db", c.source.db), slog.Int64("bytes", c.bytes))
}

// verify compares the name of the dump with that of its info.
func (c *copying) verify() error {
	info, err := c.root.ReadFile("info")
	if err != nil {
		return fmt.Errorf("dump_dir: %w", err)
	}
	if sum := md5.Sum(info); !strings.EqualFold(c.uuid, hex.EncodeToString(sum[:])) {
		return fmt.Errorf("%w: its info is not that of %s", errReplaced, bounded(c.uuid))
	}
	return nil
}

// emptyFolder makes the folder of the dump and takes out what a copy before has left. A folder that holds anything else
// is left alone.
func (s *Source) emptyFolder() (*os.Root, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("dump_dir: %w", err)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("dump_dir: %w", err)
	}
	if err := s.empty(root); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

func (s *Source) empty(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("dump_dir: %w", err)
	}
	if _, err := root.Stat(owned); err != nil && len(entries) > 0 {
		return &feed.FinalError{Err: fmt.Errorf("dump_dir: the folder %s holds something that is no copy of a dump: empty it, or name another folder", s.dir)}
	}
	if err := root.WriteFile(owned, nil, 0o600); err != nil {
		return fmt.Errorf("dump_dir: %w", err)
	}
	for _, e := range entries {
		if e.Name() == owned {
			continue
		}
		if err := root.RemoveAll(e.Name()); err != nil {
			return fmt.Errorf("dump_dir: %w", err)
		}
	}
	return nil
}

// discard takes a dump that was read out of its folder.
func (s *Source) discard() {
	root, err := s.emptyFolder()
	if err != nil {
		s.log.Warn("the dump that was read is left over", slog.String("db", s.db), slog.Any("err", err))
		return
	}
	_ = root.Close()
}
