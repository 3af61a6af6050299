package clics

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// byHand are the files that people write as YAML.
var byHand = []string{"contest", "problems", "accounts"}

// renamed are the keys of files of before the Contest Package Format, as contest.yaml of the CCS Requirements had them.
var renamed = map[string]map[string]string{
	"contest":  {"short_name": "id", "penalty": "penalty_time", "scoreboard_freeze": "scoreboard_freeze_duration", "scoreboard_freeze_length": "scoreboard_freeze_duration"},
	"problems": {"short_name": "id", "letter": "label"},
}

// fromYAML has a package whose configuration was written by hand be as one that a program wrote: contest.yaml, problems.yaml and
// accounts.yaml become JSON, where that is not there. Where no teams are said, there are none yet.
func (p Package) fromYAML() error {
	for _, name := range byHand {
		raw := p[name+".yaml"]
		if raw == nil || p[name+".json"] != nil {
			continue
		}
		var said any
		if err := yaml.Unmarshal(raw, &said); err != nil {
			return fmt.Errorf("%s.yaml is no YAML: %w", name, err)
		}
		said = plain(said, renamed[name])
		if about, ok := said.(map[string]any); ok && name == "contest" {
			if list, inside := about["problems"].([]any); inside {
				delete(about, "problems")
				if err := p.put("problems", plain(list, renamed["problems"])); err != nil {
					return err
				}
			}
		}
		if err := p.put(name, said); err != nil {
			return err
		}
		if name == "contest" {
			if err := p.put("teams", []any{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// put writes what an endpoint says, where the package does not have it.
func (p Package) put(name string, said any) error {
	if p[name+".json"] != nil {
		return nil
	}
	raw, err := json.Marshal(said)
	if err != nil {
		return fmt.Errorf("%s.yaml: %w", name, err)
	}
	p[name+".json"] = raw
	return nil
}

// plain is a value of YAML as JSON has it, with the keys as the Contest API calls them.
func plain(v any, names map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			key = strings.ReplaceAll(key, "-", "_")
			if name, other := names[key]; other {
				if _, both := v[name]; both {
					continue
				}
				key = name
			}
			out[key] = plain(value, names)
		}
		return out
	case map[any]any: // its keys are no texts
		out := map[string]any{}
		for key, value := range v {
			out[fmt.Sprint(key)] = plain(value, names)
		}
		return out
	case []any:
		for i := range v {
			v[i] = plain(v[i], names)
		}
		return v
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return v
}
