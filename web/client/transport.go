package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Problem is a refusal of the server, as an RFC 9457 problem document.
type Problem struct { //nolint:errname // RFC 9457 calls it a problem
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"` // the HTTP status code
	Detail   string `json:"detail"`
	Instance string `json:"instance"`

	Field   string `json:"field,omitempty"`    // which field of the request is wrong
	Reason  string `json:"reason,omitempty"`   // short and stable, such as "unknown"
	Remedy  string `json:"remedy,omitempty"`   // how to mend it, for people
	TraceID string `json:"trace_id,omitempty"` // what to look for in the server's log

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

// raw is a body that is sent as it is; its type is in the header.
type raw []byte

// streamed is a body of a known size that is not held in memory; its type is in the
// header.
type streamed struct {
	body io.Reader
	size int64
}

// send sends one request. A refusal is a [*Problem]; otherwise the caller
// closes the body.
func (c *Client) send(ctx context.Context, method, path string, header http.Header, in any) (*http.Response, error) {
	var body io.Reader
	var size int64
	switch in := in.(type) {
	case nil:
	case raw:
		body = bytes.NewReader(in)
	case streamed:
		body, size = in.body, in.size
	default:
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = bytes.NewReader(b)
	}
	address := strings.TrimSuffix(c.base.String(), "/") + path
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if size > 0 {
		req.ContentLength = size
	}
	maps.Copy(req.Header, header)
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
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
	p := &Problem{Status: resp.StatusCode, Title: http.StatusText(resp.StatusCode)}
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

// newKey makes an idempotency key.
func newKey() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make an idempotency key: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
