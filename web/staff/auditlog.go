package staff

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// auditJSON is an entry of the audit log.
type auditJSON struct {
	ID      int64           `json:"id"`
	At      time.Time       `json:"at"`
	Actor   string          `json:"actor"`
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Detail  json.RawMessage `json:"detail,omitempty"`
}

// auditFilterOf reads the filter of the audit log.
func auditFilterOf(c *fiber.Ctx) (f sql.AuditFilter, err error) {
	page, err := site.FilterOf(c)
	if err != nil {
		return f, err
	}
	f = sql.AuditFilter{Actor: c.Query("actor"), Action: c.Query("action"), Subject: c.Query("subject"), Before: page.Before, Limit: page.Limit}
	var wrong site.WrongFields
	for _, p := range []struct{ name, value string }{{"actor", f.Actor}, {"action", f.Action}, {"subject", f.Subject}} {
		if p.value != "" && !site.PlainWord(p.value) {
			wrong.Add(site.WrongField(p.name, site.ReasonInvalid, "The value is not a name."))
		}
	}
	return f, wrong.Err()
}

// apiAudit handles GET /api/v1/audit?actor=&action=&subject=&before=&limit=: what
// persons with privileges did, newest first.
func (s *Room) apiAudit(c *fiber.Ctx) error {
	f, err := auditFilterOf(c)
	if err != nil {
		return err
	}
	found, err := s.Store.AuditLog(c.UserContext(), f)
	if err != nil {
		return err
	}
	out := make([]auditJSON, len(found))
	for i, e := range found {
		out[i] = auditJSON(e)
	}
	var next *int64
	if len(found) == f.Limit {
		next = &found[len(found)-1].ID
	}
	return c.JSON(fiber.Map{"entries": out, "next": next})
}

// auditRow is an entry on the page.
type auditRow struct {
	sql.AuditEntry
	Act  locale.Sentence
	URL  string // page of the subject; "" = it has none
	More string // the detail in words
}

type auditView struct {
	Filter   sql.AuditFilter
	Filtered bool
	Rows     []auditRow
	Older    string // address of the next page, "" at the end
}

// With returns the address of the log with another value of the filter.
func (view auditView) With(name, value string) string {
	q := url.Values{}
	for key, is := range map[string]string{"actor": view.Filter.Actor, "action": view.Filter.Action, "subject": view.Filter.Subject} {
		if is != "" {
			q.Set(key, is)
		}
	}
	q.Set(name, value)
	return "/audit?" + q.Encode()
}

func (s *Room) auditPage(c *fiber.Ctx) error {
	f, err := auditFilterOf(c)
	if err != nil {
		return err
	}
	found, err := s.Store.AuditLog(c.UserContext(), f)
	if err != nil {
		return err
	}
	view := auditView{Filter: f, Filtered: f.Actor != "" || f.Action != "" || f.Subject != ""}
	for _, e := range found {
		view.Rows = append(view.Rows, auditRow{e, actName(e.Action), subjectURL(e.Subject), detailText(e.Action, e.Detail, site.LocaleOf(c))})
	}
	if len(found) == f.Limit {
		view.Older = view.With("before", strconv.FormatInt(found[len(found)-1].ID, 10))
	}
	return s.Page(c, fiber.StatusOK, "audit", "Audit log", view)
}

// subjectURL is the page of what an entry of the audit log is about; "" if it has none.
func subjectURL(subject string) string {
	kind, name, _ := strings.Cut(subject, ":")
	switch kind {
	case "user":
		return site.UserURL(name)
	case "problem":
		return site.PackageURL(name)
	case "space":
		return site.SpaceURL(name)
	case "queue":
		return "/queue?" + url.Values{"queue": {name}}.Encode()
	case "webhook":
		return "/webhooks/" + url.PathEscape(name)
	case "rejudge":
		return "/rejudgings/" + url.PathEscape(name)
	}
	return ""
}
