package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/restore"
	"deepoj/sql"
	"deepoj/web/site"
)

// packageJSON is a package of a problem that came with a contest.
type packageJSON struct {
	Problem string `json:"problem"`
	JobID   int64  `json:"job_id"` // that takes it in; 0 of a preview, and where Error says why not
	Error   string `json:"error,omitempty"`
}

// URL is the page of the job.
func (p packageJSON) URL() string { return site.ImportURL(p.JobID) }

// packagesOf are the packages that would be taken in with a contest.
func packagesOf(c *restore.Contest) []packageJSON {
	out := []packageJSON{}
	for _, slug := range slices.Sorted(maps.Keys(c.Packages)) {
		out = append(out, packageJSON{Problem: slug})
	}
	return out
}

// bringPackages has the packages of a contest that was imported taken in. That one cannot be is said of it, and no failure: the
// contest is there, and who runs it may send the package by itself.
func (s *Room) bringPackages(ctx context.Context, v site.Viewer, file *os.File, c *restore.Contest) ([]packageJSON, error) {
	out := packagesOf(c)
	if len(out) == 0 {
		return out, nil
	}
	about, err := file.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(file, about.Size())
	if err != nil {
		return nil, err
	}
	instead, left := map[string]string{}, int64(mostUnpacked)
	for _, p := range c.Past.Problems {
		if p.Make != nil {
			instead[p.Problem] = p.Make.Version
		}
	}
	for i := range out {
		slug := out[i].Problem
		receipt, err := s.bringOne(ctx, v, z, c.Packages[slug], slug, instead[slug], &left)
		if err != nil {
			if ctx.Err() != nil {
				return out, context.Cause(ctx)
			}
			why := s.Explain(ctx, err)
			out[i].Error = strings.TrimSpace(why.Detail + " " + why.Remedy)
			continue
		}
		out[i].JobID = receipt
	}
	return out, nil
}

// keepFiles stores the statements and attachments that came with problems of which versions were made. Without a store there are none.
func (s *Room) keepFiles(ctx context.Context, c *restore.Contest) error {
	if s.Config.Blobs == nil {
		return nil
	}
	for _, p := range c.Past.Problems {
		if p.Make == nil {
			continue
		}
		var files []sql.StoredFile
		for _, of := range c.Files {
			if of.Problem != p.Problem {
				continue
			}
			digest, n, err := s.Config.Blobs.Put(ctx, bytes.NewReader(of.Data))
			if err != nil {
				return fmt.Errorf("store a file of %s: %w", p.Problem, err)
			}
			files = append(files, sql.StoredFile{Digest: string(digest), Bytes: n})
		}
		if len(files) == 0 {
			continue
		}
		if err := s.Store.KeepFiles(ctx, p.Problem, p.Make.Version, files); err != nil {
			return err
		}
	}
	return nil
}

// mostUnpacked bounds what is read of the packages of the problems of a contest, in bytes, all together: a small archive may have
// much in it.
const mostUnpacked = 2 << 30

// errTooMuch is the cause of a package that is not read.
var errTooMuch = site.Refuse(fiber.StatusUnprocessableEntity, "too_large", "The packages of problems in the contest package are larger than they may be together.", "Import the packages of the problems by themselves.")

// bringOne has one taken in: of the file of that name in the archive, or of those of that folder.
func (s *Room) bringOne(ctx context.Context, v site.Viewer, z *zip.Reader, name, slug, instead string, left *int64) (int64, error) {
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := write(w, z, name, left)
		w.CloseWithError(err)
		done <- err
	}()
	receipt, err := s.packages.Bring(ctx, v, slug, instead, r)
	_ = r.CloseWithError(errors.New("nobody reads it any more"))
	if wrong := <-done; errors.Is(wrong, errTooMuch) {
		err = errTooMuch
	}
	return receipt.JobID, err
}

// write writes the package of a problem that is in an archive.
func write(w io.Writer, z *zip.Reader, name string, left *int64) error {
	folder := strings.HasSuffix(name, "/")
	out := zip.NewWriter(w)
	for _, f := range z.File {
		inside, is := strings.CutPrefix(f.Name, name)
		if _, below, around := strings.Cut(f.Name, "/"); !is && around { // the package may be in a folder
			inside, is = strings.CutPrefix(below, name)
		}
		if !is || !folder && inside != "" || folder && (inside == "" || strings.HasSuffix(inside, "/")) {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		to := w
		if folder {
			to, err = out.CreateHeader(&zip.FileHeader{Name: inside, Method: zip.Deflate})
		}
		if err == nil {
			var n int64
			n, err = io.CopyN(to, in, *left+1)
			if *left -= n; errors.Is(err, io.EOF) {
				err = nil // as it should end before
			}
			if *left < 0 {
				err = errTooMuch
			}
		}
		if err = errors.Join(err, in.Close()); err != nil || !folder {
			return err
		}
	}
	if !folder {
		return fmt.Errorf("%s is not there", name)
	}
	return out.Close()
}
