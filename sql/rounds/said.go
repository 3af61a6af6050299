package rounds

import (
	"encoding/json"
	"reflect"
	"time"

	"deepoj/host/judge"
)

// said is what the log says of a round: its settings, by the names that the API has for them.
func said(r *judge.Round) map[string]any {
	m := map[string]any{
		"title": r.Title, "formal_name": r.FormalName, "kind": string(r.Kind), "format": r.Format, "settings": decoded(settings(*r)),
		"start": moment(r.Start), "paused": span(r.Paused), "duration": span(r.Duration), "freeze": span(r.Freeze),
		"thaw": moment(r.Thaw), "thawed": moment(r.Thawed), "finalized": moment(r.Finalized), "updates_end": moment(r.UpdatesEnd),
		"public_runs": r.PublicRuns, "speed": max(r.Speed, 1), "practice": r.Practice, "follows": r.Follows,
	}
	var removed []string
	for _, d := range r.Removed {
		if d.Undone == nil {
			removed = append(removed, moment(&d.From)+"/"+moment(&d.To))
		}
	}
	m["removed"] = removed
	return m
}

// decoded is what some JSON means, however it is written.
func decoded(text []byte) (v any) {
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	return v
}

func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func span(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// differences are the settings that are not equal, each with what it was and what it is.
func differences(before, after map[string]any) map[string]any {
	out := map[string]any{}
	for name, was := range before {
		if is := after[name]; !reflect.DeepEqual(was, is) {
			out[name] = []any{was, is}
		}
	}
	return out
}
