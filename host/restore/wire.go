package restore

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/sql/rounds"
)

// Outcome is what came of reading a package.
type Outcome struct {
	Unreadable string       // why it is no package at all; "" = it is one
	Flaws      []clics.Flaw // what is wrong with it
	Contest    *Contest     // nil = something is wrong
}

// ReadArchive reads the package in a ZIP archive.
func ReadArchive(archive io.ReaderAt, size int64, opt Options) Outcome {
	p, err := clics.ReadPackage(archive, size, clics.OfPackages)
	if err != nil {
		return Outcome{Unreadable: err.Error()}
	}
	c, flaws := Read(p, opt)
	return Outcome{Flaws: flaws, Contest: c}
}

// end is the last line of an outcome.
const end = "end"

// head is the first line of an outcome as it is sent: what was handed in and the log follow, a line for each, and then [end].
type head struct {
	Unreadable         string                         `json:"unreadable,omitempty"`
	Flaws              []clics.Flaw                   `json:"flaws"`
	Contest            bool                           `json:"contest"`
	Foreign            bool                           `json:"foreign"`
	Notes              []string                       `json:"notes"`
	Packages           map[string]string              `json:"packages"`
	Past               rounds.Past                    `json:"past"` // without what was handed in
	Problems           map[string]contest.ProblemData `json:"problems"`
	Files              []File                         `json:"files"`
	Submissions, Lines int
}

// Send writes an outcome for [Receive].
func (o Outcome) Send(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	lines := json.NewEncoder(out)
	h := head{Unreadable: o.Unreadable, Flaws: o.Flaws, Contest: o.Contest != nil}
	if c := o.Contest; c != nil {
		h.Notes, h.Packages, h.Past, h.Problems, h.Submissions, h.Lines, h.Files, h.Foreign = c.Notes, c.Packages, c.Past, c.problems, len(c.Past.Submissions), len(c.lines), c.Files, c.Foreign
		h.Past.Submissions = nil
	}
	if err := lines.Encode(h); err != nil {
		return fmt.Errorf("send a contest: %w", err)
	}
	if o.Contest != nil {
		for _, s := range o.Contest.Past.Submissions {
			if err := lines.Encode(s); err != nil {
				return fmt.Errorf("send what was handed in: %w", err)
			}
		}
		for _, l := range o.Contest.lines {
			if err := lines.Encode(l); err != nil {
				return fmt.Errorf("send a log: %w", err)
			}
		}
	}
	if err := lines.Encode(end); err != nil {
		return fmt.Errorf("send a contest: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("send a contest: %w", err)
	}
	return nil
}

// Receive reads an outcome that [Outcome.Send] has written. The reader bounds it.
func Receive(r io.Reader) (Outcome, error) {
	in := json.NewDecoder(r)
	var h head
	if err := in.Decode(&h); err != nil {
		return Outcome{}, fmt.Errorf("receive a contest: %w", err)
	}
	o := Outcome{Unreadable: h.Unreadable, Flaws: h.Flaws}
	if len(h.Flaws) > maxFindings || len(h.Notes) > maxFindings {
		return Outcome{}, errors.New("receive a contest: there are too many findings")
	}
	if h.Contest {
		c := &Contest{Past: h.Past, Notes: h.Notes, Packages: h.Packages, Files: h.Files, Foreign: h.Foreign, problems: h.Problems}
		if c.Packages == nil {
			c.Packages = map[string]string{}
		}
		for range h.Submissions {
			var s rounds.PastSubmission
			if err := in.Decode(&s); err != nil {
				return Outcome{}, fmt.Errorf("receive what was handed in: %w", err)
			}
			c.Past.Submissions = append(c.Past.Submissions, s)
		}
		for range h.Lines {
			var l Line
			if err := in.Decode(&l); err != nil {
				return Outcome{}, fmt.Errorf("receive a log: %w", err)
			}
			if string(l.Data) == "null" {
				l.Data = nil // it is told of no more
			}
			c.lines = append(c.lines, l)
		}
		c.keep()
		o.Contest = c
	}
	var last string
	if err := in.Decode(&last); err != nil || last != end {
		return Outcome{}, errors.New("receive a contest: it is cut")
	}
	return o, nil
}
