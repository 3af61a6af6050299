package clics

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// feedFile is where a package has the event feed.
const feedFile = "event-feed.ndjson"

// alone are the types of which there is one object, and the files in which packages have those.
var alone = map[string]string{"contest": "contest.json", "contests": "contest.json", "state": "state.json"}

// OfFeed returns the package that an event feed tells of, which is all that some contests leave: what each endpoint would answer at
// its end. It reads the feeds of all releases since 2020-03. Files that the feed names are not in it.
func OfFeed(feed []byte) (Package, error) {
	type object struct {
		since int // how many objects were told before it
		data  json.RawMessage
	}
	objects := map[string]map[string]object{}
	told := 0
	put := func(kind, id string, data json.RawMessage) {
		if objects[kind] == nil {
			objects[kind] = map[string]object{}
		}
		if data == nil || string(data) == "null" {
			delete(objects[kind], id)
			return
		}
		is, known := objects[kind][id]
		if !known {
			is.since = told
			told++
		}
		is.data = data
		objects[kind][id] = is
	}
	n := 0
	for line := range bytes.SplitSeq(feed, []byte("\n")) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := takeEvent(line, put); err != nil {
			return nil, fmt.Errorf("line %d of the event feed: %w", n, err)
		}
	}
	p := Package{feedFile: feed}
	for kind, those := range objects {
		list := []json.RawMessage{}
		for _, one := range slices.SortedFunc(maps.Values(those), func(a, b object) int { return cmp.Compare(a.since, b.since) }) {
			list = append(list, one.data)
		}
		if file, one := alone[kind]; one {
			if len(list) > 0 {
				p[file] = list[len(list)-1]
			}
			continue
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		p[strings.ReplaceAll(kind, "/", "-")+".json"] = raw
	}
	return p, nil
}

// takeEvent calls put with what one line tells.
func takeEvent(line []byte, put func(kind, id string, data json.RawMessage)) error {
	var e struct {
		Type string          `json:"type"`
		ID   *string         `json:"id"`
		Op   string          `json:"op"` // of releases before 2022-07, in which the id is that of the event
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Type == "" {
		return errors.New("it has no type")
	}
	if alone[e.Type] != "" {
		put(e.Type, "", e.Data)
		return nil
	}
	data := bytes.TrimSpace(e.Data)
	if len(data) > 0 && data[0] == '[' { // all of a kind
		var all []json.RawMessage
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
		for _, one := range all {
			id, err := idOf(one)
			if err != nil {
				return err
			}
			put(e.Type, id, withoutFiles(e.Type, one))
		}
		return nil
	}
	id := ""
	switch {
	case e.Op == "" && e.ID != nil:
		id = *e.ID
	case e.Op == "":
		return nil // of a type of the system's own, of which there is one object
	case len(data) > 0 && string(data) != "null":
		var err error
		if id, err = idOf(data); err != nil {
			return err
		}
	}
	if e.Op == "delete" {
		data = nil
	}
	put(e.Type, id, withoutFiles(e.Type, data))
	return nil
}

func idOf(object []byte) (string, error) {
	var o struct {
		ID *string `json:"id"`
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return "", err
	}
	if o.ID == nil {
		return "", errors.New("an object has no id")
	}
	return *o.ID, nil
}

// withoutFiles is a submission without the files that a feed only names.
func withoutFiles(kind string, data []byte) json.RawMessage {
	if kind != TypeSubmissions || len(data) == 0 || string(data) == "null" {
		return data
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(data, &o) != nil || o["files"] == nil {
		return data
	}
	delete(o, "files")
	out, err := json.Marshal(o)
	if err != nil {
		return data
	}
	return out
}

// Moment is a TIME of the API, which may have its zone in hours alone.
type Moment struct{ time.Time }

// UnmarshalJSON reads a TIME.
func (m *Moment) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("a time is no text: %w", err)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z07", "2006-01-02T15:04:05.999999999Z0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			m.Time = t
			return nil
		}
	}
	return fmt.Errorf("%.40q is no time", text)
}
