package conformance

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// message is what a checker said of an output that it rejected.
type message struct {
	c      *sample
	output []byte
	text   string
}

// leastTell is the length of a token of a real answer that does not get into a message by chance.
const leastTell = 4

// messages looks for pieces of the answers in what contestants may read: in what the checker said of the mutants, and
// in what it says when the answer holds things that appear nowhere else.
func (s *suite) messages() (string, error) {
	if len(s.samples) == 0 {
		return "no answer is known that the checker understands: give the manifest tests, or name a package", nil
	}
	rule := "leak"
	if s.module.Manifest.Protocol == abi.Testlib1 {
		rule = "leak-testlib" // staff and contestant get the same message
	}
	for _, m := range s.said {
		if piece := s.leaked(m); piece != "" {
			s.find(rule, fmt.Sprintf("%s, output %.60q: the message %.200q holds %q of the answer", m.c.name, m.output, m.text, piece))
		}
	}
	for _, c := range s.samples {
		answer, secrets := disguise(c.answer)
		if len(secrets) == 0 {
			continue
		}
		text, err := s.messageFor(c, answer)
		if err != nil {
			return "", err
		}
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				s.find(rule, fmt.Sprintf("%s with the answer %.60q: the message %.200q holds %q", c.name, answer, text, secret))
				break
			}
		}
	}
	return "", nil
}

// messageFor returns what a checker says of a sample's output when the answer is
// another. A checker that does not understand the answer says nothing.
func (s *suite) messageFor(c *sample, answer []byte) (text string, err error) {
	with := &sample{input: c.input, answer: answer, args: c.args}
	if err := s.open(with); err != nil {
		return "", err
	}
	o, err := s.check(with, c.output)
	if cerr := with.close(); cerr != nil {
		return "", cerr
	}
	_, err = fault(err)
	return o.Message, err
}

// leaked returns a piece of the answer that a message holds and that the checker can know from nowhere else, or "".
func (s *suite) leaked(m message) string {
	for _, t := range tokens(m.c.answer) {
		piece := m.c.answer[t.from:t.to]
		if len(piece) < leastTell || len(piece) > 1000 || !holds(m.text, string(piece)) {
			continue
		}
		known := bytes.Contains(m.output, piece) || bytes.Contains(m.c.input, piece) || bytes.Contains(s.wasm, piece) ||
			strings.Contains(strings.Join(m.c.args, " "), string(piece))
		if !known {
			return string(piece)
		}
	}
	return ""
}

// holds reports whether text has piece as a word.
func holds(text, piece string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], piece)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(piece)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = at + 1
	}
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// maxSecrets is how many tokens of an answer are disguised.
const maxSecrets = 10

// disguise replaces tokens of an answer by others of the same kind that appear nowhere else, and returns them.
func disguise(answer []byte) (b []byte, secrets []string) {
	at := 0
	for i, t := range tokens(answer) {
		if i == maxSecrets {
			break
		}
		secret := "zqx" + strings.Repeat(string(rune('a'+i)), 6)
		old := string(answer[t.from:t.to])
		if _, err := strconv.ParseInt(old, 10, 64); err == nil {
			secret = strconv.Itoa(83_175_629 + 1_010_101*i)
		} else if _, err := strconv.ParseFloat(old, 64); err == nil {
			secret = strconv.Itoa(83_175+i) + ".62947"
		}
		b = append(append(b, answer[at:t.from]...), secret...)
		secrets = append(secrets, secret)
		at = t.to
	}
	return append(b, answer[at:]...), secrets
}
