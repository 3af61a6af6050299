package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// The two messages of a run, the request and the result, are written field by field, as numbers and texts: whoever runs
// small programs would wait for JSON as long as for the kernel to fork. All other messages are JSON, which begins with
// a brace.
const (
	CodedRun    = 1
	codedResult = 2
)

// codec writes fields to b, or reads them from it, so that both are one list.
type codec struct {
	b       []byte
	reading bool
	short   bool // b ended too early, or makes no sense
}

// Encode returns v, a request or reply, as a message.
func Encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case Request:
		if v.Op == OpRun && v.Run != nil {
			q := *v.Run
			c := codec{b: make([]byte, 1, 512)}
			c.b[0] = CodedRun
			q.fields(&c)
			return c.b, nil
		}
	case Reply:
		if v.Result != nil && v.Error == "" && v.Ended == "" {
			r := *v.Result
			c := codec{b: make([]byte, 1, 256)}
			c.b[0] = codedResult
			r.fields(&c)
			return c.b, nil
		}
	}
	return json.Marshal(v)
}

// Decode reads a message into v, a pointer to a request or reply.
func Decode(b []byte, v any) error {
	if len(b) == 0 || b[0] == '{' {
		return json.Unmarshal(b, v)
	}
	c := codec{b: b[1:], reading: true}
	switch v := v.(type) {
	case *Request:
		if b[0] == CodedRun {
			*v = Request{Op: OpRun, Run: &RunRequest{}}
			v.Run.fields(&c)
			return c.end()
		}
	case *Reply:
		if b[0] == codedResult {
			*v = Reply{Result: &Result{}}
			v.Result.fields(&c)
			return c.end()
		}
	}
	return errors.New("it is of no known kind")
}

func (q *RunRequest) fields(c *codec) {
	c.text(&q.Tool)
	c.text(&q.Program)
	c.texts(&q.Args)
	c.texts(&q.Env)
	c.texts(&q.ExtraTools)
	number(c, &q.StdoutLimit)
	number(c, &q.StderrLimit)
	q.Limits.fields(c)
	for i := range q.Stdio {
		c.flag(&q.Stdio[i])
	}
	c.flag(&q.Raw)
}

func (l *Limits) fields(c *codec) {
	number(c, &l.CPU)
	number(c, &l.Wall)
	number(c, &l.MemoryBytes)
	number(c, &l.OutputBytes)
	number(c, &l.FileBytes)
	number(c, &l.Processes)
	number(c, &l.OpenFiles)
	number(c, &l.Cores)
}

func (r *Result) fields(c *codec) {
	c.text((*string)(&r.Verdict))
	number(c, &r.CPU)
	number(c, &r.Wall)
	number(c, &r.MemoryBytes)
	number(c, &r.ExitCode)
	number(c, &r.Signal)
	c.flag(&r.OOM)
	c.flag(&r.OverWall)
	number(c, &r.StdoutBytes)
	number(c, &r.StderrBytes)
	c.flag(&r.StdoutTruncated)
	c.flag(&r.StderrTruncated)
	number(c, &r.Pressure)
	number(c, &r.Ended)
	c.text(&r.Error)
	c.flag(&r.Unfit)
	c.text(&r.Driver)
}

func number[T ~int | ~int64](c *codec, p *T) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, int64(*p))
		return
	}
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.fail()
		return
	}
	*p, c.b = T(v), c.b[n:]
}

func (c *codec) flag(p *bool) {
	var n int
	if *p {
		n = 1
	}
	number(c, &n)
	*p = n == 1
}

func (c *codec) text(p *string) {
	n := len(*p)
	number(c, &n)
	switch {
	case !c.reading:
		c.b = append(c.b, *p...)
	case n < 0 || n > len(c.b):
		c.fail()
	default:
		*p, c.b = string(c.b[:n]), c.b[n:]
	}
}

func (c *codec) texts(p *[]string) {
	n := len(*p)
	number(c, &n)
	if c.reading {
		if n < 0 || n > len(c.b) { // each takes a byte at least
			c.fail()
			return
		}
		*p = nil
		if n > 0 {
			*p = make([]string, n)
		}
	}
	for i := range *p {
		c.text(&(*p)[i])
	}
}

// fail makes what is left of reading read nothing.
func (c *codec) fail() { c.short, c.b = true, nil }

func (c *codec) end() error {
	if c.short || len(c.b) > 0 {
		return errors.New("it does not have the fields that it should")
	}
	return nil
}
