package problem

import (
	"fmt"
	"path"
)

// Only leaves the package with the tests whose names match pattern, as of
// [path.Match], such as "sample/*" or "secret/group1/*". Groups without tests go.
// An empty pattern leaves all. It must be called before Save.
func (p *Package) Only(pattern string) error {
	if pattern == "" {
		return nil
	}
	left, err := p.Root.only(pattern)
	if err != nil {
		return fmt.Errorf("pattern %q of tests: %w", pattern, err)
	}
	if left == nil {
		return fmt.Errorf("no test of %s matches %q", p.Slug, pattern)
	}
	p.Root = left
	return nil
}

// only returns a copy of the group with the tests that match, nil if none does.
func (g *Group) only(pattern string) (*Group, error) {
	left := *g
	left.Items = nil
	for _, item := range g.Items {
		var err error
		keep := false
		if t := item.Case(); t != nil {
			keep, err = path.Match(pattern, t.Name)
		} else if item.Group, err = item.Group.only(pattern); err == nil {
			keep = item.Group != nil
		}
		if err != nil {
			return nil, err
		}
		if keep {
			left.Items = append(left.Items, item)
		}
	}
	if len(left.Items) == 0 {
		return nil, nil
	}
	return &left, nil
}
