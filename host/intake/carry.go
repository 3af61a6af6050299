package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/sql"
)

// carry binds the checker that is bound to the live version of a problem to a new version of its package, which is
// saved. It is not carried over if the new version asks for another checker than before, as that is the newer choice.
// The result is not saved if it is another package.
func (x *Intake) carry(ctx context.Context, pkg *problem.Package) (*problem.Package, *judge.Binding, error) {
	live, err := x.cfg.Store.Problem(ctx, pkg.Slug)
	if errors.Is(err, sql.ErrNotFound) {
		return pkg, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	before, err := problem.Load(ctx, x.cfg.Blobs, blob.Digest(live.Version))
	if errors.Is(err, blob.ErrNotFound) {
		return pkg, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	c, bound := before.Bound()
	if !bound {
		return pkg, nil, nil
	}
	if len(pkg.Checkers) == 1 && pkg.Checkers[0].Plugin == c.Plugin && pkg.Checkers[0].Digest == c.Digest {
		return pkg, nil, nil // the package asks for it by itself now
	}
	b := &judge.Binding{Checker: c.Name(), Own: pkg.OwnNames(), Binding: "digest"}
	if c.Plugin != "" {
		b.Binding = "name"
	}
	switch {
	case pkg.Interactor != nil && len(pkg.Checkers) == 0:
		b.Why = fmt.Sprintf("the checker %s, which was bound to the problem, is not used: the package is interactive now, and has no checker", b.Checker)
	case !before.SameOwn(pkg):
		b.Why = fmt.Sprintf("the checker %s, which was bound to the problem, is not used any more: the package asks for another checker than before, %s; "+
			"bind %[1]s again if it is to decide", b.Checker, b.Own)
	default:
		b.Kept = true
		b.Why = fmt.Sprintf("the checker %s stays bound to the problem and decides in the place of %s; to end that, change the checker of the package", b.Checker, b.Own)
		pkg = pkg.Bind(c)
	}
	return pkg, b, nil
}

// stays is what the report on a version says that a checker is bound to, nil if none is.
func stays(pkg *problem.Package) *judge.Binding {
	c, bound := pkg.Bound()
	if !bound || pkg.Binding == nil {
		return nil
	}
	b := &judge.Binding{Checker: c.Name(), Kept: true, Own: (&problem.Package{Checkers: pkg.Binding.Own}).OwnNames(), Binding: "digest"}
	if c.Plugin != "" {
		b.Binding = "name"
	}
	b.Why = fmt.Sprintf("the checker %s is bound to the problem and decides in the place of the package's own", b.Checker)
	return b
}

// carried carries a binding over and saves what comes of it. What became of the binding goes into the report.
func (x *Intake) carried(ctx context.Context, pkg *problem.Package, r *judge.PackageReport) (*problem.Package, error) {
	with, b, err := x.carry(ctx, pkg)
	if err != nil || b == nil {
		return pkg, err
	}
	r.Binding = b
	r.Warnings = append(r.Warnings, problem.Finding{Key: "checker", Reason: b.Why})
	if with == pkg {
		return pkg, nil
	}
	_, err = with.Save(ctx, x.cfg.Blobs)
	return with, err
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
