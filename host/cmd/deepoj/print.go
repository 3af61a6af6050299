package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"deepoj/host/command"
)

// browsers are the programs that can print pages, by preference.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

const browserRemedy = "apt-get install chromium, or open the page in any browser and print it there"

// printTime is how long a browser may take to print a set of problems.
const printTime = 2 * time.Minute

// printProblems has a browser without a window print a problem, or all problems of a space, as a PDF.
func printProblems(f *command.Flags) command.Run {
	space := f.String("space", "", "print all problems of a space, in order")
	print := printer(f)
	return func(ctx context.Context, c *command.Call) error {
		if (*space == "") == (len(c.Args) == 0) {
			return command.ErrUsage
		}
		page, name := "/spaces/"+url.PathEscape(*space)+"/print", *space
		if len(c.Args) == 1 {
			page, name = "/problems/"+url.PathEscape(c.Args[0]), c.Args[0]
		}
		return print(ctx, c, page, name, url.Values{})
	}
}

// printContest prints the problems of a round, or its certificates.
func printContest(f *command.Flags) command.Run {
	certificates := f.Bool("certificates", false, "print the certificates of who has an award, the best first, of a result that stands")
	after := f.String("after", "", "print the certificates behind that of this participant: 200 are printed at once")
	print := printer(f)
	return func(ctx context.Context, c *command.Call) error {
		if *after != "" && !*certificates {
			return errors.New("--after is for --certificates")
		}
		page, name, query := "/rounds/"+url.PathEscape(c.Args[0])+"/print", c.Args[0], url.Values{}
		if *certificates {
			page, name = "/rounds/"+url.PathEscape(c.Args[0])+"/certificates", name+"-certificates"
		}
		if *after != "" {
			query.Set("after", *after)
		}
		return print(ctx, c, page, name, query)
	}
}

// printer returns what prints a page of a server, and says where the PDF is, whose usual name is that of what is printed.
func printer(f *command.Flags) func(ctx context.Context, c *command.Call, page, name string, query url.Values) error {
	out := f.String("o", "", "PDF `file` to write; the name with .pdf when empty")
	lang := f.String("lang", "", "language of the statements, such as en; else English, or the first")
	at := serverFlags(f)
	return func(ctx context.Context, c *command.Call, page, name string, query url.Values) error {
		if *lang != "" {
			query.Set("lang", *lang)
		}
		if len(query) > 0 {
			page += "?" + query.Encode()
		}
		address, token, err := at.at(c)
		if err != nil {
			return err
		}
		from, err := url.Parse(address)
		if err != nil {
			return err
		}
		file, err := filepath.Abs(cmp.Or(*out, name+".pdf"))
		if err != nil {
			return err
		}
		if err := printPage(ctx, from, token, page, file); err != nil {
			return remedied(err, address, token)
		}
		return c.Say(map[string]string{"file": file}, "printed %s", file)
	}
}

// findBrowser returns where a browser is that can print.
func findBrowser() (string, error) {
	for _, name := range browsers {
		if at, err := exec.LookPath(name); err == nil {
			return at, nil
		}
	}
	return "", fmt.Errorf("no browser was found that prints pages: %s", browserRemedy)
}

// printPage prints a page of a server. The browser, whose profile is new, gets the page
// from a door of this process, which has the token: it is on no command line.
func printPage(ctx context.Context, from *url.URL, token, page, file string) error {
	browser, err := findBrowser()
	if err != nil {
		return err
	}
	if err := seePage(ctx, from, token, page); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "deepoj-print-")
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	secret := rand.Text()
	door := &http.Server{Handler: printDoor(from, token, secret), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = door.Serve(listener) }() // until it is closed
	defer door.Close()
	ctx, cancel := context.WithTimeout(ctx, printTime)
	defer cancel()
	printed := filepath.Join(dir, "printed.pdf")
	args := []string{
		"--headless=new", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-background-networking",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--no-pdf-header-footer", "--print-to-pdf=" + printed, "--virtual-time-budget=15000",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium's own does not work for root; the page is of our own server and runs no script of others
	}
	cmd := exec.CommandContext(ctx, browser, append(args, "http://"+listener.Addr().String()+"/?"+url.Values{"door": {secret}, "to": {page}}.Encode())...)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	cmd.WaitDelay = 5 * time.Second
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("print: %s did not end: %w", browser, context.Cause(ctx))
	}
	pdf, missing := os.ReadFile(printed)
	if missing != nil || len(pdf) == 0 {
		return fmt.Errorf("print: %s wrote no PDF: %w: %s", browser, errors.Join(err, missing), lastLine(string(said)))
	}
	return os.WriteFile(file, pdf, 0o644)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// seePage asks for the page as the browser will, so that a refusal is told and not printed.
func seePage(ctx context.Context, from *url.URL, token, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String()+page, http.NoBody)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("print: %w (is the server running? --server or DEEPOJ_URL names it)", err)
	}
	defer r.Body.Close()
	switch {
	case r.StatusCode == http.StatusOK || r.StatusCode == http.StatusSeeOther && !strings.HasPrefix(r.Header.Get("Location"), "/login"):
		return nil // or what it is the page of: the problems of a round that follows its space are there
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode >= 300 && r.StatusCode < 400:
		return errors.New("print: the server asks who you are: give a key with --token, DEEPOJ_KEY or deepoj login")
	case r.StatusCode == http.StatusConflict:
		return errors.New("print: there are no certificates before the result stands: `deepoj contest finalize` has it stand")
	case r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("print: there is no page %s that you may see", page)
	}
	return fmt.Errorf("print: the server answers %s to %s", r.Status, page)
}

// printDoor hands pages of a server on, with the token of whoever prints, to who knows the secret. It only reads.
func printDoor(from *url.URL, token, secret string) http.Handler {
	const cookie = "deepoj-print"
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(from)
		r.Out.Host = from.Host
		r.Out.Header = http.Header{"Accept": r.In.Header["Accept"]}
		if token != "" {
			r.Out.Header.Set("Authorization", "Bearer "+token)
		}
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("door") == secret && strings.HasPrefix(r.URL.Query().Get("to"), "/") {
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusSeeOther)
			return
		}
		known, err := r.Cookie(cookie)
		if err != nil || known.Value != secret || r.Method != http.MethodGet {
			http.Error(w, "this door is for one browser", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}
