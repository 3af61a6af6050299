package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"deepoj/host/judge"
)

// Worker is a worker as staff see it.
type Worker struct {
	judge.WorkerInfo
	Alive bool        `json:"alive"`
	Jobs  []WorkerJob `json:"jobs"` // what it has under way
}

// WorkerJob is a job that a worker has under way.
type WorkerJob struct {
	JobID     int64      `json:"job_id"`
	URL       string     `json:"url"` // its page, as a path; "" if it has none
	Kind      judge.Kind `json:"kind"`
	Language  string     `json:"language"`
	AttemptID int32      `json:"attempt_id"`
	Started   time.Time  `json:"started_at"`
}

// AllWorkers returns the workers of the last week, those that are silent last. For
// others than staff it returns those that are alive, without their names and
// without what they run.
func (c *Client) AllWorkers(ctx context.Context) ([]Worker, error) {
	var reply struct {
		Workers []Worker `json:"workers"`
	}
	err := c.call(ctx, http.MethodGet, "/api/v1/workers?all=true", nil, nil, &reply)
	return reply.Workers, err
}

// AuditEntry is a privileged act as the audit log keeps it.
type AuditEntry struct {
	ID      int64           `json:"id"`
	At      time.Time       `json:"at"`
	Actor   string          `json:"actor"`
	Action  string          `json:"action"`  // such as "user_disable"
	Subject string          `json:"subject"` // a kind and a name, such as "user:ann"
	Detail  json.RawMessage `json:"detail"`
}

// AuditFilter selects entries of the audit log. Zero fields select everything.
type AuditFilter struct {
	Actor, Action string
	Subject       string // "user:ann", or "user:" for all of its kind
	Before        int64  // only entries with a smaller id: the cursor
	Limit         int    // at most 200; 0 means 50
}

// AuditLog returns entries of the audit log, newest first, and the cursor for the
// next page: the Before of the next call, 0 at the end. It is for administrators.
func (c *Client) AuditLog(ctx context.Context, f AuditFilter) ([]AuditEntry, int64, error) {
	q := url.Values{}
	for name, value := range map[string]string{"actor": f.Actor, "action": f.Action, "subject": f.Subject} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Before > 0 {
		q.Set("before", fmt.Sprint(f.Before))
	}
	if f.Limit > 0 {
		q.Set("limit", fmt.Sprint(f.Limit))
	}
	var page struct {
		Entries []AuditEntry `json:"entries"`
		Next    *int64       `json:"next"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/v1/audit?"+q.Encode(), nil, nil, &page); err != nil {
		return nil, 0, err
	}
	if page.Next == nil {
		return page.Entries, 0, nil
	}
	return page.Entries, *page.Next, nil
}
