package judge

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Source is one file that was handed in.
type Source struct {
	Name string `json:"name"` // a plain file name, without a folder
	Text string `json:"text"`
}

// Payload is what the job of a submission carries. An unknown SchemaVersion is
// refused with reason payload_missing_or_invalid.
//
// It is stored as a line of JSON, in which each source has its name and how many bytes it has, and after that line the
// bytes of the sources one after the other: a program need not be made JSON, nor be read from it.
type Payload struct {
	SchemaVersion int      `json:"schema_version"` // 1
	ContentType   string   `json:"content_type"`   // "application/vnd.deepoj.submission+json"
	Problem       string   `json:"problem"`        // the problem's short name
	Version       string   `json:"version"`        // of the problem, of kind draft; "" = the one that is live
	Language      string   `json:"language"`       // a language id such as "cpp"
	Sources       []Source `json:"sources"`

	// Own says that the program came with the package: the problem's limit of sources is
	// for contestants. No job carries it.
	Own bool `json:"-"`

	// Dialect is what of its language the sources are written in, such as "gnu++17", if
	// the adapter knows it. Only packages say so, of their own submissions.
	Dialect string `json:"-"`

	// Entry names the source that the program starts with; "" = the adapter chooses. Only
	// packages say so, of their own submissions.
	Entry string `json:"-"`
}

// AnswerLanguage is the language of submissions to problems that take the answers
// themselves: each file is the answer to the test that it is called after.
const AnswerLanguage = "answer"

// PayloadVersion and PayloadType are what this program writes and reads.
const (
	PayloadVersion = 1
	PayloadType    = "application/vnd.deepoj.submission+json"
	DraftType      = "application/vnd.deepoj.draft+json" // of kind draft
)

// payloadLine is the first line of a payload.
type payloadLine struct {
	SchemaVersion int           `json:"schema_version"`
	ContentType   string        `json:"content_type"`
	Problem       string        `json:"problem"`
	Version       string        `json:"version,omitzero"`
	Language      string        `json:"language"`
	Sources       []payloadFile `json:"sources"`
}

// payloadFile is a source in that line. Payloads of older programs have the text here, and no other line.
type payloadFile struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes,omitzero"`
	Text  string `json:"text,omitzero"`
}

// Encode returns p as it is stored.
func (p Payload) Encode() ([]byte, error) {
	line := payloadLine{p.SchemaVersion, p.ContentType, p.Problem, p.Version, p.Language, make([]payloadFile, len(p.Sources))}
	size := 1
	for i, s := range p.Sources {
		line.Sources[i] = payloadFile{Name: s.Name, Bytes: len(s.Text)}
		size += len(s.Text)
	}
	head, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("encode payload: %w", err)
	}
	out := append(make([]byte, 0, len(head)+size), head...)
	out = append(out, '\n')
	for _, s := range p.Sources {
		out = append(out, s.Text...)
	}
	return out, nil
}

// DecodePayload reads what [Payload.Encode] wrote. It does not look at versions and names.
func DecodePayload(raw []byte) (Payload, error) {
	head, rest, _ := bytes.Cut(raw, []byte{'\n'})
	var line payloadLine
	if err := json.Unmarshal(head, &line); err != nil {
		return Payload{}, err
	}
	p := Payload{
		SchemaVersion: line.SchemaVersion, ContentType: line.ContentType, Problem: line.Problem, Version: line.Version, Language: line.Language,
		Sources: make([]Source, len(line.Sources)),
	}
	for i, f := range line.Sources {
		if f.Bytes < 0 || f.Bytes > len(rest) || f.Bytes > 0 && f.Text != "" {
			return Payload{}, fmt.Errorf("source %q does not have its %d bytes", f.Name, f.Bytes)
		}
		p.Sources[i] = Source{f.Name, f.Text + string(rest[:f.Bytes])}
		rest = rest[f.Bytes:]
	}
	if len(rest) > 0 {
		return Payload{}, errors.New("there is more than the sources")
	}
	return p, nil
}
