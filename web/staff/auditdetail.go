package staff

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// detailNames are the members of details that the audit log keeps.
var detailNames = map[string]locale.Word{
	"action": "act", "activate": "make live", "after": "after", "archive": "archive", "attempt": "attempt",
	"author": "author", "before": "before", "by": "by", "by_email": "by e-mail", "checker": "checker",
	"closes_at": "closes", "counter": "counter", "delayed_at": "put back", "difficulty": "difficulty",
	"digest": "digest", "display_name": "display name", "everyone": "of everybody", "expires_at": "expires",
	"files": "files", "filled": "filled in", "generation": "judging number", "group_limit": "at once per submitter",
	"had": "had an address", "has": "has an address", "host": "host", "invitation": "invitation", "invited": "invited",
	"is": "is", "issuer": "provider", "job_id": "job", "job_ids": "jobs", "jobs": "jobs", "joined": "joined",
	"kind": "kind", "label": "name", "lane": "lane", "language": "language", "languages": "languages",
	"left": "codes left", "listed": "listed", "made": "made", "max_backlog": "longest",
	"max_source_kib": "program in KiB", "max_tries": "tries", "max_wait": "longest wait",
	"max_waiting": "waiting at once", "member": "member", "members": "members", "minutes": "minutes", "most": "at most",
	"not_before": "not before", "of": "entry", "opens_at": "opens", "ordering": "order", "owner": "owner",
	"participant": "participant", "passkey": "passkey", "passkeys": "passkeys", "per_minute": "in a minute", "points": "points", "previous": "before it",
	"priority": "priority", "problem": "problem", "problems": "problems", "proved": "proved", "rank_at": "rank",
	"reason": "reason", "redeliver": "delivered again after", "role": "role", "scope": "scope", "score": "score", "source": "source",
	"spacing": "spacing", "submissions": "submissions", "tags": "tags", "title": "title", "totp": "authenticator app",
	"user": "user", "verdict": "verdict", "version": "version", "was": "was", "why": "why",
	"webhook": "webhook",
}

// orderings are the orders of queues.
var orderings = map[string]locale.Word{judge.FIFO: "the oldest first", judge.LIFO: "the newest first"}

// ordering says the order of a queue, with what the settings call it.
func ordering(name string) locale.Sentence {
	if orderings[name] == "" {
		return locale.Named(orderings, name)
	}
	return locale.Sentence{Key: "%s (%s)", Args: []any{orderings[name], name}}
}

// detailCodes say the values of members whose values are codes of ours.
var detailCodes = map[string]func(value string) locale.Sentence{
	"action":   actName,
	"kind":     func(value string) locale.Sentence { return locale.Named(kindNames, judge.Kind(value)) },
	"ordering": ordering,
	"role":     site.RoleName[string],
	"scope":    func(value string) locale.Sentence { return site.ScopeName(judge.Scope(value)) },
}

// wasCodes say what a member "was", by the act.
var wasCodes = map[string]func(value string) locale.Sentence{
	"user_role": site.RoleName[string], "space_member_remove": site.RoleName[string], "cancel": site.StateName[string], "rejudge": site.StateName[string],
}

// numbering are members whose numbers name something and count nothing.
var numbering = []string{"attempt", "generation", "invitation", "job_id", "job_ids", "jobs", "of", "passkey"}

// detailText writes the detail of an act for people: each member by its name, without those that are null.
func detailText(action string, raw json.RawMessage, l *locale.Locale) string {
	var members map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &members) != nil {
		return string(raw)
	}
	return l.Clauses(detailParts(action, members, l))
}

func detailParts(action string, members map[string]any, l *locale.Locale) (parts []string) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if text := detailValue(action, name, members[name], l); text != "" {
			parts = append(parts, l.Say("%s: %s", detailName(name), text))
		}
	}
	return parts
}

// detailName says a member; one that an older or newer program kept is said by its name.
func detailName(name string) locale.Sentence {
	if word := detailNames[name]; word != "" {
		return locale.Sentence{Key: word}
	}
	return locale.Sentence{Key: "%s", Args: []any{strings.ReplaceAll(name, "_", " ")}}
}

// detailValue writes the value of a member; "" if there is nothing to say.
func detailValue(action, name string, value any, l *locale.Locale) string {
	switch value := value.(type) {
	case bool:
		if value {
			return l.Say("yes")
		}
		return l.Say("no")
	case float64:
		return detailNumber(name, value, l)
	case string:
		return detailWord(action, name, value, l)
	case []any:
		if action == "space_update" && len(value) == 2 && !slices.Contains([]string{"members", "names"}, name) { // what it was, and what it is
			return l.Say("%s, before: %s", detailValue("", name, value[1], l), detailValue("", name, value[0], l))
		}
		var texts []string
		for _, one := range value {
			texts = append(texts, detailValue(action, name, one, l))
		}
		return l.List(texts)
	case map[string]any:
		if parts := detailParts(action, value, l); len(parts) > 0 {
			return "[" + l.Clauses(parts) + "]"
		}
	}
	return ""
}

func detailNumber(name string, value float64, l *locale.Locale) string {
	switch whole := int64(value); {
	case name == "lane":
		return l.Said(site.LaneText(judge.Lane(whole)))
	case slices.Contains(numbering, name) && value == math.Trunc(value):
		return strconv.FormatInt(whole, 10)
	}
	return l.Number(value)
}

func detailWord(action, name, value string, l *locale.Locale) string {
	say := detailCodes[name]
	if name == "was" {
		say = wasCodes[action]
	}
	if name == "kind" && strings.HasPrefix(action, "plugin_") || name == "kind" && action == "activate" {
		say = nil // of a plugin
	}
	if say != nil {
		return l.Said(say(value))
	}
	if strings.HasSuffix(name, "_at") || name == "not_before" {
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return l.Time(at)
		}
	}
	return value
}
