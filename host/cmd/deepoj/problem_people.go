package main

import (
	"context"
	"flag"
	"fmt"

	"deepoj/web/client"
)

// serverFlags adds the flags of commands that talk to a server, and returns what makes
// its client.
func serverFlags(e *env, f *flag.FlagSet) func() (*client.Client, error) {
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	return func() (*client.Client, error) {
		return client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
	}
}

// peopleOfProblem is `deepoj problem people`: it changes and lists who may change a
// problem of a server besides staff.
func peopleOfProblem(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem people", "NAME")
	add := f.String("add", "", "account to make a co-author")
	remove := f.String("remove", "", "account to make a co-author no more")
	owner := f.String("owner", "", "account to make the owner")
	open := serverFlags(e, f)
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) != 1 {
		f.Usage()
		return 2
	}
	c, err := open()
	if err != nil {
		return e.fail(err)
	}
	for _, act := range []struct {
		name string
		do   func(ctx context.Context, problem, name string) error
	}{{*owner, c.SetProblemOwner}, {*add, c.AddProblemAuthor}, {*remove, c.RemoveProblemAuthor}} {
		if act.name == "" {
			continue
		}
		if err := act.do(ctx, args[0], act.name); err != nil {
			return e.fail(fmt.Errorf("%s: %w", act.name, err))
		}
	}
	people, err := c.ProblemPeople(ctx, args[0])
	if err != nil {
		return e.fail(err)
	}
	for _, p := range people {
		fmt.Fprintf(e.stdout, "%s %s\n", p.Name, map[bool]string{true: "owner", false: "co-author"}[p.Owner])
	}
	return 0
}

// showQuota is `deepoj problem quota`: it prints what one's packages take on a server
// and may take, and for staff what those of others take.
func showQuota(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem quota", "")
	open := serverFlags(e, f)
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	c, err := open()
	if err != nil {
		return e.fail(err)
	}
	q, err := c.Quota(ctx)
	if err != nil {
		return e.fail(err)
	}
	of := func(allowed, text string) string {
		if allowed == "0" || allowed == mebibytes(0) {
			return text
		}
		return text + " of " + allowed
	}
	fmt.Fprintf(e.stdout, "packages: %s\nversions today: %s\nfurther saves today: %s\nsent today: %s\n", of(mebibytes(q.AllowedBytes), mebibytes(q.UsedBytes)),
		of(fmt.Sprint(q.PerDay), fmt.Sprint(q.Versions)), of(fmt.Sprint(q.MaxSaves), fmt.Sprint(q.Saves)), of(mebibytes(q.AllowedBytes), mebibytes(q.SentBytes)))
	for _, s := range q.Setters {
		fmt.Fprintf(e.stdout, "%s: %s\n", s.Name, mebibytes(s.Bytes))
	}
	return 0
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
