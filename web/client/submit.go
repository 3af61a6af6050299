package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"

	"deepoj/host/judge"
)

// NewSubmission is a program to be judged.
type NewSubmission struct {
	Problem  string         `json:"problem"`           // the problem's short name
	Space    string         `json:"space,omitempty"`   // course or contest that it is handed in to
	Language string         `json:"language"`          // a language id such as "cpp"
	Sources  []judge.Source `json:"sources,omitempty"` // at least one file

	// Once gives an unfinished submission of the same program to the same problem
	// by the same user, if there is one, instead of a new one.
	Once bool `json:"once,omitempty"`

	// Immediate, Priority and JobKey are for staff: judged in the first lane, before others in its lane (higher
	// first), and in place of the unfinished submission of the same key.
	Immediate bool   `json:"immediate,omitempty"`
	Priority  int    `json:"priority,omitempty"`
	JobKey    string `json:"job_key,omitempty"`

	// Key makes a repeated call return the first call's submission. Empty means a fresh one for every call.
	Key string `json:"-"`
}

// Submit hands in a program. The submission is stored when Submit returns.
func (c *Client) Submit(ctx context.Context, s NewSubmission) (r Receipt, err error) {
	err = c.call(ctx, http.MethodPost, "/api/v1/submissions", s, &r, WithKey(s.Key))
	return r, err
}

// SubmitBatch hands in up to 50 programs to a space ("" = none): all of them or none. The receipts are in the order of
// the programs; their own spaces and keys are not used. Key makes a repeated call return the submissions of the first;
// empty means a fresh one for every call.
func (c *Client) SubmitBatch(ctx context.Context, space, key string, programs []NewSubmission) ([]Receipt, error) {
	in := struct {
		Submissions []NewSubmission `json:"submissions"`
		Space       string          `json:"space,omitempty"`
	}{slices.Clone(programs), space}
	for i := range in.Submissions {
		in.Submissions[i].Space = ""
	}
	var out PostSubmissionsBatchAnswer
	err := c.call(ctx, http.MethodPost, "/api/v1/submissions/batch", in, &out, WithKey(key))
	return out.Submissions, err
}

// NewRun is a program to be run on inputs, which counts for nothing.
type NewRun struct {
	Language string         `json:"language"`
	Sources  []judge.Source `json:"sources"`

	// Problem lends its limits, and its samples with Samples. Empty means the server's own limits.
	Problem string `json:"problem,omitempty"`
	Samples bool   `json:"samples,omitempty"` // runs the samples in place of Tests

	Tests       []RunTest       `json:"tests,omitempty"` // none is one empty input
	Args        []string        `json:"args,omitempty"`  // of the program
	Options     []string        `json:"compiler_options,omitempty"`
	Limits      judge.RunLimits `json:"limits,omitzero"`
	MergeStderr bool            `json:"merge_stderr,omitempty"` // into standard output

	// Key makes a repeated call return the first call's run. Empty means a fresh one for every call.
	Key string `json:"-"`
}

// RunTest is one input. With Expected its output is compared, word by word.
type RunTest struct {
	Stdin    string  `json:"stdin"`
	Expected *string `json:"expected_output,omitempty"`
}

// StartRun asks for a run. It is stored when StartRun returns.
func (c *Client) StartRun(ctx context.Context, n NewRun) (r Receipt, err error) {
	err = c.call(ctx, http.MethodPost, "/api/v1/runs", n, &r, WithKey(n.Key))
	return r, err
}

// NewPackage is a problem package to be taken in.
type NewPackage struct {
	Problem string // the problem's short name

	// Keep leaves the version that is live as it is, also if the new one is proved.
	Keep bool

	// Given is what a folder of tests, or an init.yml, does not say.
	Given judge.Given

	// Key makes a repeated call return the first call's job. Empty means a fresh one for every call.
	Key string
}

// UploadPackage has a package, a ZIP file of a size in bytes, made a version of its problem and proved. The job is
// stored when UploadPackage returns. Only setters and staff may.
func (c *Client) UploadPackage(ctx context.Context, p NewPackage, archive io.Reader, size int64) (r Receipt, err error) {
	var seconds, mebibytes string
	if p.Given.CPUMillis != 0 {
		seconds = strconv.FormatFloat(float64(p.Given.CPUMillis)/1000, 'f', -1, 64)
	}
	if p.Given.MemoryMiB != 0 {
		mebibytes = strconv.FormatInt(p.Given.MemoryMiB, 10)
	}
	path := "/api/v1/problems" + queryOf("problem", p.Problem, "activate", strconv.FormatBool(!p.Keep),
		"title", p.Given.Title, "time", seconds, "memory", mebibytes)
	err = c.call(ctx, http.MethodPost, path, upload{archive, size, "application/zip"}, &r, WithKey(p.Key))
	return r, err
}

// Upload is a plugin to be taken in: one WebAssembly module, or the sources of one language with their headers.
type Upload struct {
	Kind     string // checker, interactor or toolchain; "" = checker
	Name     string // such as "org.example.tokens"; of a module, "" = from its manifest
	Version  string // the same
	Protocol string // such as "testlib/1"; "" = from the manifest, or the kind's first
	Problem  string // to prove it with; "" = none
	Files    []judge.PluginFile

	// Key makes a repeated call return the first call's job. Empty means a fresh one for every call.
	Key string
}

// UploadPlugin has a plugin compiled if need be, proved and kept. The job is
// stored when UploadPlugin returns. Only setters and staff may.
func (c *Client) UploadPlugin(ctx context.Context, u Upload) (r Receipt, err error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, field := range [][2]string{{"kind", u.Kind}, {"name", u.Name}, {"version", u.Version}, {"protocol", u.Protocol}, {"problem", u.Problem}} {
		if field[1] == "" {
			continue
		}
		if err := w.WriteField(field[0], field[1]); err != nil {
			return r, fmt.Errorf("write the form: %w", err)
		}
	}
	for _, f := range u.Files {
		part, err := w.CreateFormFile("files", f.Name)
		if err == nil {
			_, err = part.Write(f.Data)
		}
		if err != nil {
			return r, fmt.Errorf("write the form: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return r, fmt.Errorf("write the form: %w", err)
	}
	form := upload{&body, int64(body.Len()), w.FormDataContentType()}
	err = c.call(ctx, http.MethodPost, "/api/v1/plugins", form, &r, WithKey(u.Key))
	return r, err
}
