package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/sql"
)

// Keep notes a version of a problem that is saved, with its pages, without making it live, as what a job has made; job
// 0 is none. Pictures that must be drawn are left for a job of kind render.
func Keep(ctx context.Context, store *sql.Site, pkg *problem.Package, by string, jobID int64) error {
	if err := store.KeepVersion(ctx, pkg.Judge(), by, jobID); err != nil {
		return err
	}
	if err := store.KeepFiles(ctx, pkg.Slug, string(pkg.Version), stored(pkg)); err != nil {
		return err
	}
	return keepPages(ctx, store, pkg)
}

// Save keeps a version of a problem that is saved, with its pages, and makes it live
// without a proof, as somebody does who has proved it elsewhere.
func Save(ctx context.Context, store *sql.Site, pkg *problem.Package, by string) error {
	if err := store.SaveProblem(ctx, pkg.Judge(), by); err != nil {
		return err
	}
	return keepPages(ctx, store, pkg)
}

// stored are the files of a package that is saved.
func stored(pkg *problem.Package) []sql.StoredFile {
	files := make([]sql.StoredFile, len(pkg.Files))
	for i, f := range pkg.Files {
		files[i] = sql.StoredFile{Digest: string(f.Digest), Bytes: f.Size}
	}
	return files
}

// maker is who makes a version.
type maker struct {
	name  string
	bound bool // to problems of their own and to a quota: they are a setter and not staff
}

// maker says whether somebody may make a version of a problem. When the job was
// ordered they might, but meanwhile the problem may have become another's.
func (x *Intake) maker(ctx context.Context, name, slug string) (maker, error) {
	u, err := x.cfg.Store.User(ctx, name)
	switch {
	case errors.Is(err, sql.ErrNotFound): // the program itself
		return maker{name: name}, nil
	case err != nil:
		return maker{}, err
	case u.Role == judge.RoleStaff || u.Role == judge.RoleAdmin:
		return maker{name: name}, nil
	}
	rights, err := x.cfg.Store.ProblemRights(ctx, slug, name)
	if err == nil && !rights.MayChange() {
		err = notTheirs(name, slug)
	}
	return maker{name: name, bound: true}, err
}

func notTheirs(name, slug string) error {
	return refuse("%s is not a problem of %s: have its owner or staff add %s as a co-author, or choose another short name", slug, name, name)
}

// fits refuses a package that takes more room than its maker has left. What is stored already takes none. One that is
// not saved is read for that only if it could be too much.
func (x *Intake) fits(ctx context.Context, u maker, pkg *problem.Package) error {
	if !u.bound || x.cfg.Quota == 0 {
		return nil
	}
	used, err := x.cfg.Store.SetterBytes(ctx, u.name)
	if err != nil {
		return err
	}
	all := int64(0)
	for _, f := range pkg.Files {
		all += f.Size
	}
	if used+all <= x.cfg.Quota {
		return nil
	}
	files := stored(pkg)
	for i, f := range pkg.Files {
		if f.Digest != "" {
			continue
		}
		if files[i].Digest, err = digest(ctx, pkg, f); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			return refuse("the archive is damaged: %s: %v", f.Path, err)
		}
	}
	more, err := x.cfg.Store.NewBytes(ctx, files)
	if err != nil {
		return err
	}
	if used+more > x.cfg.Quota {
		return refuse("the package takes %s more, and your packages take %s of %s already: make its tests smaller or by generators, or ask staff to raise SETTER_QUOTA_MIB",
			mebibytes(more), mebibytes(used), mebibytes(x.cfg.Quota))
	}
	return nil
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// digest reads a file for what it will be called.
func digest(ctx context.Context, pkg *problem.Package, f problem.File) (string, error) {
	r, err := pkg.Open(ctx, f)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, r)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), errors.Join(err, r.Close())
}
