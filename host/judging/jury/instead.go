package jury

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deepoj/host/judging/runner"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
)

// Versions names the checkers of a result.
func Versions(cs []Checker) string {
	var all []string
	for _, c := range cs {
		all = append(all, c.version())
	}
	return strings.Join(all, " ")
}

// maxWhy bounds how much is told of why there is no plugin, in bytes.
const maxWhy = 600

// Instead says, in a sentence each, which checkers and interactors of a package run as
// programs of their own because their sources do not become a plugin here, and why.
// One that cannot be run at all is left out: whoever asks it is told.
func (j *Jury) Instead(ctx context.Context, pkg *problem.Package) (said []string, err error) {
	all, kind := slices.Clone(pkg.Checkers), abi.Checker
	for range 2 {
		for _, one := range all {
			if len(one.Sources) == 0 {
				continue
			}
			c, err := j.guest(ctx, pkg, one, kind)
			if err != nil && !noPlugin(err) {
				return nil, err
			}
			if err == nil && c.why != "" {
				said = append(said, fmt.Sprintf("The %s %s runs as a program and not as a plugin: %s", kind, one.Name(), runner.Cut(strings.TrimSpace(c.why), maxWhy)))
			}
		}
		all, kind = nil, abi.Interactor
		if pkg.Interactor != nil {
			all = []problem.Checker{*pkg.Interactor}
		}
	}
	return said, nil
}
