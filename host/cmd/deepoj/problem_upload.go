package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"deepoj/host/intake"
	"deepoj/host/judge"
	"deepoj/host/verify"
	"deepoj/web/client"
)

// uploadProblem is `deepoj problem upload`: it sends a package to a server, which
// makes it a version of its problem and proves it. With --wait its status is 0 when
// the version is proved, 3 when its proof failed or the package is refused, and 1
// when something went wrong.
func uploadProblem(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem upload", "ZIP")
	slug := f.String("slug", "", "short name of the problem; the name of the file when empty")
	given := givenFlags(f)
	keep := f.Bool("keep", false, "leave the live version as it is, also if the new one is proved")
	wait := f.Bool("wait", false, "wait for the proof and print it")
	asJSON := f.Bool("json", false, "with --wait: print the report as JSON")
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) != 1 {
		f.Usage()
		return 2
	}
	if err := checkGiven(*given); err != nil {
		return e.fail(err)
	}
	c, err := client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
	if err != nil {
		return e.fail(err)
	}
	p := client.NewPackage{Problem: firstOf(*slug, strings.TrimSuffix(filepath.Base(args[0]), ".zip")), Keep: *keep, Given: *given}
	r, err := upload(ctx, e, c, p, args[0])
	if err != nil {
		return e.fail(err)
	}
	if !*wait {
		fmt.Fprintf(e.stdout, "uploaded as job %d\n", r.JobID)
		return 0
	}
	report, err := awaitImport(ctx, e, c, r.JobID)
	switch {
	case err != nil:
		err = fmt.Errorf("the package is uploaded as job %d; waiting for it failed: %w", r.JobID, err)
	case *asJSON:
		err = printJSON(e, report)
	default:
		err = printImport(e, report)
	}
	if err != nil {
		return e.fail(err)
	}
	if report.Proof == nil || !report.Proof.OK() {
		return 3
	}
	return 0
}

func upload(ctx context.Context, e *env, c *client.Client, p client.NewPackage, name string) (r client.Receipt, err error) {
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
	b := newBar(e.stderr, "upload", info.Size(), megabytesText)
	defer b.clear()
	return c.UploadPackage(ctx, p, io.TeeReader(file, b), info.Size())
}

// awaitImport tells of each row while it comes, and returns the report.
func awaitImport(ctx context.Context, e *env, c *client.Client, jobID int64) (report intake.PackageReport, err error) {
	told := map[string]bool{}
	b := newSteps(e)
	defer b.clear()
	err = c.JobEvents(ctx, jobID, 0, func(event judge.Event) error {
		var d struct {
			Finding struct {
				verify.Stage
				Row verify.Row
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
			b.row(e, row)
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	j, err := c.WaitJob(ctx, jobID)
	if err != nil {
		return report, err
	}
	if j.Result == nil {
		why := j.Status
		if j.Error != nil {
			why = *j.Error
		}
		return report, errors.New(why)
	}
	return report, json.Unmarshal(j.Result.Report, &report)
}

func printImport(e *env, r intake.PackageReport) error {
	for _, w := range r.Warnings {
		fmt.Fprintf(e.stderr, "%s: warning: %s\n", r.Problem, w)
	}
	for _, f := range r.Refused {
		fmt.Fprintf(e.stderr, "%s: error: %s\n", r.Problem, f)
	}
	if r.Proof == nil {
		_, err := fmt.Fprintln(e.stdout, r.Error)
		return err
	}
	if err := r.Proof.Write(e.stdout); err != nil {
		return err
	}
	live := "kept, not live"
	if r.Live {
		live = "live"
	}
	_, err := fmt.Fprintf(e.stdout, "version %s of %s is %s\n", r.Version, r.Problem, live)
	return err
}
