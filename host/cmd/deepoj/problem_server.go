package main

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deepoj/host/command"
	"deepoj/web/client"
)

// exportProblem writes a version of a problem of a server to a ZIP file, which gives
// the same version when it is imported.
func exportProblem(f *command.Flags) command.Run {
	out := f.String("o", "", "`file` to write; NAME.zip when empty")
	version := f.String("version", "", "version to export; the live one when empty")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		problem := c.Args[0]
		name := cmp.Or(*out, filepath.Base(problem)+".zip")
		if err := download(ctx, s, problem, *version, name); err != nil {
			return fmt.Errorf("export %s: %w", problem, err)
		}
		return c.Say(map[string]string{"problem": problem, "file": name}, "exported %s to %s", problem, name)
	})
}

// download writes an export to a file, whole or not at all.
func download(ctx context.Context, s *client.Client, problem, version, name string) (err error) {
	from, err := s.ExportProblem(ctx, problem, version)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to.Name()))
		}
	}()
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	z, err := zip.OpenReader(to.Name())
	if err != nil {
		return fmt.Errorf("the archive did not come whole: %w", err)
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.Rename(to.Name(), name)
}

// hideProblem says on a server whether only setters see problems, and members of a space while that is open.
func hideProblem(hidden bool) func(*command.Flags) command.Run {
	done := map[bool]string{true: "hidden", false: "shown to everybody"}[hidden]
	return onServer(func(ctx context.Context, c *command.Call, s *client.Client) error {
		told := []map[string]any{}
		for _, name := range c.Args {
			if err := s.HideProblem(ctx, name, hidden); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			told = append(told, map[string]any{"problem": name, "hidden": hidden})
			if !c.JSON {
				fmt.Fprintf(c.Out, "%s is %s\n", name, done)
			}
		}
		return c.Print(told, command.Table{})
	})
}

// peopleOfProblem changes and lists who may change a problem of a server besides staff.
func peopleOfProblem(f *command.Flags) command.Run {
	add := f.String("add", "", "account to make a co-author")
	remove := f.String("remove", "", "account to make a co-author no more")
	owner := f.String("owner", "", "account to make the owner")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		for _, act := range []struct {
			name string
			do   func(ctx context.Context, problem, name string) error
		}{{*owner, s.SetProblemOwner}, {*add, s.AddProblemAuthor}, {*remove, s.RemoveProblemAuthor}} {
			if act.name == "" {
				continue
			}
			if err := act.do(ctx, c.Args[0], act.name); err != nil {
				return fmt.Errorf("%s: %w", act.name, err)
			}
		}
		people, err := s.ProblemPeople(ctx, c.Args[0])
		if err != nil {
			return err
		}
		return c.Write(people, func(w io.Writer) error {
			for _, p := range people {
				fmt.Fprintf(w, "%s %s\n", p.Name, map[bool]string{true: "owner", false: "co-author"}[p.Owner])
			}
			return nil
		})
	})
}

// showQuota prints what one's packages take on a server and may take, and for staff what those of others take.
func showQuota(f *command.Flags) command.Run {
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		q, err := s.GetQuota(ctx)
		if err != nil {
			return err
		}
		of := func(allowed, text string) string {
			if allowed == "0" || allowed == mebibytes(0) {
				return text
			}
			return text + " of " + allowed
		}
		return c.Write(q, func(w io.Writer) error {
			fmt.Fprintf(w, "packages: %s\nversions today: %s\nfurther saves today: %s\nsent today: %s\n", of(mebibytes(q.Allowed), mebibytes(q.Used)),
				of(fmt.Sprint(q.PerDay), fmt.Sprint(q.Versions)), of(fmt.Sprint(q.MaxSaves), fmt.Sprint(q.Saves)), of(mebibytes(q.Allowed), mebibytes(q.Sent)))
			for _, s := range q.Setters {
				fmt.Fprintf(w, "%s: %s\n", s.Name, mebibytes(s.Bytes))
			}
			return nil
		})
	})
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// tagProblem prints what setters say of a problem of a server beside its versions, and changes it.
func tagProblem(f *command.Flags) command.Run {
	none := f.Bool("none", false, "it has no tags")
	plain := f.Bool("as-package", false, "forget what was said: tags, difficulty, source and author are as the package says")
	difficulty := f.Int("difficulty", 0, "1 to 10,000; 0 leaves it")
	source := f.String("source", "", "where the problem comes from; empty leaves it")
	author := f.String("author", "", "who wrote it; empty leaves it")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		name, tags := c.Args[0], c.Args[1:]
		if *none && len(tags) > 0 {
			return command.ErrUsage
		}
		l, err := s.GetProblemLabels(ctx, name)
		if err != nil {
			return err
		}
		if *plain {
			l = client.Labels{}
		}
		if len(tags) > 0 || *none {
			l.Tags = append([]string{}, tags...)
		}
		if *difficulty != 0 {
			l.Difficulty = new(int32(*difficulty))
		}
		if *source != "" {
			l.Source = source
		}
		if *author != "" {
			l.Author = author
		}
		if *plain || *none || len(tags) > 0 || *difficulty != 0 || *source != "" || *author != "" {
			if l, err = s.SetProblemLabels(ctx, name, l); err != nil {
				return err
			}
		}
		return c.Write(l, func(w io.Writer) error { printLabels(w, l); return nil })
	})
}

func printLabels(w io.Writer, l client.Labels) {
	say := func(name string, text *string) {
		if text != nil {
			fmt.Fprintf(w, "%s: %s\n", name, *text)
		}
	}
	if l.Tags != nil {
		fmt.Fprintf(w, "tags: %s\n", strings.Join(l.Tags, ", "))
	}
	if l.Difficulty != nil {
		fmt.Fprintf(w, "difficulty: %d\n", *l.Difficulty)
	}
	say("source", l.Source)
	say("author", l.Author)
}

// diffProblem says how one version of a problem of a server differs from another.
func diffProblem(f *command.Flags) command.Run {
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		name := c.Args[0]
		versions, err := s.ProblemVersions(ctx, name)
		if err != nil {
			return err
		}
		full := make([]string, 2)
		for i, wanted := range c.Args[1:] {
			var fits []string
			for _, v := range versions {
				if strings.HasPrefix(strings.TrimPrefix(v.Version, "sha256:"), strings.TrimPrefix(wanted, "sha256:")) {
					fits = append(fits, v.Version)
				}
			}
			if len(fits) != 1 {
				return fmt.Errorf("%d versions of %s begin with %q: name one by more of its digits", len(fits), name, wanted)
			}
			full[i] = fits[0]
		}
		d, err := s.GetProblemDiff(ctx, name, client.GetProblemDiffParams{From: full[0], To: full[1]})
		if err != nil {
			return err
		}
		if err := c.Write(d, func(w io.Writer) error { printDifference(w, d); return nil }); err != nil {
			return err
		}
		if len(d.Files) > 0 || len(d.Values) > 0 {
			return command.Exit(1)
		}
		return nil
	})
}

func printDifference(w io.Writer, d client.Difference) {
	for _, v := range d.Values {
		fmt.Fprintf(w, "%s: %s -> %s\n", v.Name, v.From, v.To)
	}
	for _, list := range []struct {
		name  string
		tests []string
	}{{"added", d.Tests.Added}, {"removed", d.Tests.Removed}, {"changed", d.Tests.Changed}} {
		if len(list.tests) > 0 {
			fmt.Fprintf(w, "tests %s: %s\n", list.name, strings.Join(list.tests, " "))
		}
	}
	for _, file := range d.Files {
		why := ""
		if file.Why != "" && slices.Contains([]string{"binary", "long", "many", "time"}, file.Why) {
			why = " (" + file.Why + ")"
		}
		fmt.Fprintf(w, "%s %s%s\n", file.Change, file.Path, why)
		fmt.Fprint(w, file.Lines)
	}
	if d.More {
		fmt.Fprintln(w, "and more")
	}
}

// cloneProblem makes a problem of one's own of another of a server.
func cloneProblem(f *command.Flags) command.Run {
	version := f.String("version", "", "digest of the version; the live one when empty, or else the newest")
	wait := f.Bool("wait", false, "wait until it is proved; else only the number of the job is printed")
	longest := timeoutFlag(f)
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		r, err := s.PostProblemClone(ctx, c.Args[0], client.PostProblemCloneRequest{Name: c.Args[1], Version: *version}, client.WithKey(""))
		if err != nil {
			return err
		}
		if !*wait {
			return c.Say(r, "job %d takes in %s", r.JobID, c.Args[1])
		}
		c.Warn("job %d takes in %s", r.JobID, c.Args[1])
		ctx, cancel := atMost(ctx, *longest)
		defer cancel()
		job, err := s.WaitJob(ctx, r.JobID)
		switch {
		case errors.Is(err, errPatience):
			c.Warn("%s is not proved yet: deepoj watch %d goes on waiting", c.Args[1], r.JobID)
			return command.Exit(statusNotYet)
		case err != nil:
			return fmt.Errorf("waiting for job %d failed: %w", r.JobID, err)
		}
		proved := job.Result != nil && job.Result.Verdict == "AC"
		if !proved && !c.JSON {
			fmt.Fprintln(c.Err, "it is not proved")
			return command.Exit(3)
		}
		if err := c.Say(job, "it is proved, and goes live when somebody activates it"); err != nil || proved {
			return err
		}
		return command.Exit(3)
	})
}
