package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Problem is a refusal of the server, as an RFC 9457 problem document. Field says which field of the request is wrong,
// Remedy how to mend it, and TraceID what to look for in the server's log.
type Problem struct { //nolint:errname // RFC 9457 calls it a problem
	Refusal

	// RetryAfter is how long the server asks to wait; 0 when it did not ask.
	RetryAfter time.Duration `json:"-"`
}

func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	if p.Remedy != "" {
		text += " " + p.Remedy
	}
	return fmt.Sprintf("%d: %s", p.Status, text)
}

// maxProblem bounds how much of a refusal is read, in bytes.
const maxProblem = 64 << 10

// CallOption changes one call of a [Client].
type CallOption func(*http.Request)

// WithKey makes a call safe to repeat: the same again, with the same key, gives what
// the first gave. Empty means a fresh key.
func WithKey(key string) CallOption {
	if key == "" {
		key = rand.Text()
	}
	return func(r *http.Request) { r.Header.Set("Idempotency-Key", key) }
}

// upload is a body of a known size in bytes that is no JSON.
type upload struct {
	io.Reader
	size  int64
	media string
}

// call sends in as JSON, if any, and reads the answer into out, if any.
func (c *Client) call(ctx context.Context, method, path string, in, out any, options ...CallOption) error {
	resp, err := c.send(ctx, method, path, in, options...)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return nil
}

// send sends one request. A refusal is a [*Problem]; otherwise the caller closes the body.
func (c *Client) send(ctx context.Context, method, path string, in any, options ...CallOption) (*http.Response, error) {
	body, given := in.(upload)
	if in != nil && !given {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = upload{bytes.NewReader(b), int64(len(b)), "application/json"}
	}
	address := strings.TrimSuffix(c.base.String(), "/") + path
	req, err := http.NewRequestWithContext(ctx, method, address, body.Reader)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.ContentLength = max(body.size, 0)
		req.Header.Set("Content-Type", body.media)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, option := range options {
		option(req)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refusal(resp)
}

// refusal reads a problem document; a body that is none still yields a Problem.
func refusal(resp *http.Response) error {
	p := &Problem{Refusal: Refusal{Title: http.StatusText(resp.StatusCode)}}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json") {
		if json.Unmarshal(body, p) != nil {
			p.Detail = "The server sent a problem document that cannot be read."
		}
	}
	p.Status = resp.StatusCode
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		p.RetryAfter = time.Duration(s) * time.Second
	}
	return p
}

// pathOf fills the parameters of an address in, each for a %s.
func pathOf(address string, parameters ...any) string {
	for _, p := range parameters {
		address = strings.Replace(address, "%s", url.PathEscape(fmt.Sprint(p)), 1)
	}
	return address
}

// queryOf is a query of names and values in turn. What is zero is left out.
func queryOf(pairs ...any) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := reflect.ValueOf(pairs[i+1]); !value.IsZero() {
			query.Set(fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1]))
		}
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

// longestPage is the most rows that a server gives of a list at once.
const longestPage = 200

// pages reads a list to its end, from the cursor of one page to the next.
func pages[T any](get func(cursor string) ([]T, *string, error)) (all []T, err error) {
	for cursor := new(""); cursor != nil; {
		page, next, err := get(*cursor)
		if err != nil {
			return nil, err
		}
		all, cursor = append(all, page...), next
	}
	return all, nil
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// orNil is an answer, or nil if there is none.
func orNil[T any](v T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// either is one of two calls that undo each other.
func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// exactly is an output byte by byte: in Base64 is what is not UTF-8.
func exactly(text, base string) []byte {
	if raw, err := base64.StdEncoding.DecodeString(base); err == nil && base != "" {
		return raw
	}
	return []byte(text)
}
