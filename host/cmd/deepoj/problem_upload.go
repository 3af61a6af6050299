package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/verify"
	"deepoj/web/client"
)

// problemFlag names a problem, as the API does.
func problemFlag(f *command.Flags, usage string) *string {
	name := f.String("problem", "", usage)
	f.Renamed("slug", "problem")
	return name
}

// uploadProblem sends a package to a server, which makes it a version of its problem and proves it.
func uploadProblem(f *command.Flags) command.Run {
	slug := problemFlag(f, "short name of the problem; the name of the file when empty")
	given := givenFlags(f)
	activate := f.Bool("activate", true, "make the version live when it is proved; =false leaves the live one as it is")
	f.BoolFunc("keep", "", func(keep string) error {
		kept, err := strconv.ParseBool(keep)
		*activate = !kept
		return err
	})
	f.Replaced("keep", "activate=false")
	wait := f.Bool("wait", false, "wait for the proof and print it; else only the number of the job is printed")
	longest := timeoutFlag(f)
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		if err := checkGiven(*given); err != nil {
			return err
		}
		file := c.Args[0]
		p := client.NewPackage{Problem: cmp.Or(*slug, problem.ShortName(strings.TrimSuffix(filepath.Base(file), ".zip"))), Keep: !*activate, Given: *given}
		r, err := upload(ctx, c, s, p, file)
		if err != nil {
			return err
		}
		if !*wait {
			return c.Say(r, "uploaded as job %d", r.JobID)
		}
		ctx, cancel := atMost(ctx, *longest)
		defer cancel()
		report, err := awaitImport(ctx, c, s, r.JobID)
		if errors.Is(err, errPatience) {
			c.Warn("the package is uploaded as job %d and not proved yet: deepoj watch %d goes on waiting", r.JobID, r.JobID)
			return command.Exit(statusNotYet)
		} else if err != nil {
			return fmt.Errorf("the package is uploaded as job %d; waiting for it failed: %w", r.JobID, err)
		}
		if err := c.Write(report, func(w io.Writer) error { return printImport(w, c.Err, report) }); err != nil {
			return err
		}
		if report.Proof == nil || !report.Proof.OK() {
			return command.Exit(statusOther)
		}
		return nil
	})
}

func upload(ctx context.Context, c *command.Call, s *client.Client, p client.NewPackage, name string) (r client.Receipt, err error) {
	file, err := os.Open(filepath.Clean(name))
	if err != nil {
		return r, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return r, err
	}
	if info.IsDir() {
		return r, fmt.Errorf("%s is a folder: make a ZIP file of it, or import it with deepoj problem import", name)
	}
	b := newBar(c.Err, "upload", info.Size(), megabytesText)
	defer b.clear()
	return s.UploadPackage(ctx, p, io.TeeReader(file, b), info.Size())
}

// awaitImport tells of each row while it comes, and returns the report.
func awaitImport(ctx context.Context, c *command.Call, s *client.Client, jobID int64) (report judge.PackageReport, err error) {
	told := map[string]bool{}
	b := newSteps(c.Err)
	defer b.clear()
	err = s.JobEvents(ctx, jobID, 0, func(event judge.Event) error {
		var d struct {
			Finding struct {
				verify.Stage
				Row judge.ProofRow
			}
		}
		if event.Kind != judge.EventFinding && event.Kind != judge.EventStage {
			return nil
		}
		if err := json.Unmarshal(event.Data, &d); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if event.Kind == judge.EventStage {
			b.stage(d.Finding.Stage)
		} else if row := d.Finding.Row; !told[row.Path] { // another try tells again
			told[row.Path] = true
			b.row(row)
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	return report, reportOf(ctx, s, jobID, &report)
}

func printImport(out, errs io.Writer, r judge.PackageReport) error {
	for _, w := range r.Warnings {
		fmt.Fprintf(errs, "%s: warning: %s\n", r.Problem, w)
	}
	for _, f := range r.Refused {
		fmt.Fprintf(errs, "%s: error: %s\n", r.Problem, f)
	}
	if r.Proof == nil {
		_, err := fmt.Fprintln(out, r.Error)
		return err
	}
	if err := verify.Write(out, *r.Proof); err != nil {
		return err
	}
	live := "kept, not live"
	if r.Live {
		live = "live"
	}
	_, err := fmt.Fprintf(out, "version %s of %s is %s\n", r.Version, r.Problem, live)
	return err
}

// renderProblems has the pages of versions that are kept made again by a server, from what is kept of their packages.
func renderProblems(f *command.Flags) command.Run {
	all := f.Bool("all", false, "render every version of every problem")
	detach := f.Bool("no-wait", false, "order the job and do not wait for it")
	longest := timeoutFlag(f)
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		if *all == (len(c.Args) > 0) {
			return command.ErrUsage
		}
		receipt, err := s.PostRenderings(ctx, client.PostRenderingsRequest{All: *all, Problems: c.Args}, client.WithKey(""))
		if err != nil {
			return err
		}
		if *detach {
			return c.Say(receipt, "ordered as job %d", receipt.JobID)
		}
		ctx, cancel := atMost(ctx, *longest)
		defer cancel()
		r, err := awaitRendering(ctx, c, s, receipt.JobID)
		switch {
		case errors.Is(err, errPatience):
			c.Warn("the statements are not all rendered yet: deepoj watch %d goes on waiting", receipt.JobID)
			return command.Exit(statusNotYet)
		case err != nil:
			return fmt.Errorf("the statements are rendered by job %d; waiting for it failed: %w", receipt.JobID, err)
		}
		if err := c.Write(r, func(w io.Writer) error { printRendering(w, c.Err, r); return nil }); err != nil {
			return err
		}
		if len(r.Failed) > 0 {
			return command.Exit(statusOther)
		}
		return nil
	})
}

// awaitRendering tells how far the job is, and returns its report.
func awaitRendering(ctx context.Context, c *command.Call, s *client.Client, jobID int64) (r judge.RenderReport, err error) {
	b := newBar(c.Err, "render", 0, versionsText)
	defer b.clear()
	seen := int64(0)
	err = s.JobEvents(ctx, jobID, 0, func(event judge.Event) error {
		var d struct {
			Finding struct {
				Step string
				Done int64
			}
		}
		if event.Kind != judge.EventStage {
			return nil
		}
		if err := json.Unmarshal(event.Data, &d); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if n := d.Finding.Done; d.Finding.Step == "render" && n > seen {
			b.add(n - seen)
			seen = n
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	return r, reportOf(ctx, s, jobID, &r)
}

// reportOf waits for a job, and reads its report.
func reportOf(ctx context.Context, s *client.Client, jobID int64, report any) error {
	j, err := s.WaitJob(ctx, jobID)
	switch {
	case err != nil:
		return err
	case j.Result != nil:
		return json.Unmarshal(j.Result.Report, report)
	case j.Error != nil:
		return errors.New(*j.Error)
	}
	return errors.New(j.Status)
}

func printRendering(out, errs io.Writer, r judge.RenderReport) {
	for _, row := range r.Warned {
		for _, w := range row.Warnings {
			fmt.Fprintf(errs, "%s %.19s: warning: %s\n", row.Problem, row.Version, w)
		}
	}
	for _, row := range r.Failed {
		fmt.Fprintf(errs, "%s %.19s: not rendered: %s\n", row.Problem, row.Version, row.Why)
	}
	if r.More > 0 {
		fmt.Fprintf(errs, "%d more such versions\n", r.More)
	}
	fmt.Fprintf(out, "rendered %d of %d versions\n", r.Rendered, r.Versions)
}
