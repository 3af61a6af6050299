package main

import (
	"context"
	"fmt"

	"deepoj/web/client"
)

// hideProblem is `deepoj problem hide` and `deepoj problem show`: it says on a server
// whether only setters see problems, and members of a space while that is open.
func hideProblem(hidden bool) func(context.Context, *env) int {
	verb := map[bool]string{true: "hide", false: "show"}[hidden]
	return func(ctx context.Context, e *env) int {
		f := bareFlags(e, "problem "+verb, "NAME...")
		server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
		token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
		names, status, ok := filesOf(f, e.args) // flags may also follow the names
		if !ok {
			return status
		}
		if len(names) == 0 {
			f.Usage()
			return 2
		}
		c, err := client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
		if err != nil {
			return e.fail(err)
		}
		for _, name := range names {
			if err := c.HideProblem(ctx, name, hidden); err != nil {
				return e.fail(fmt.Errorf("%s: %w", name, err))
			}
			fmt.Fprintf(e.stdout, "%s is %s\n", name, map[bool]string{true: "hidden", false: "shown to everybody"}[hidden])
		}
		return 0
	}
}
