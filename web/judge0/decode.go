package judge0

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deepoj/host/judge"
)

// Errors are what is wrong with a submission, by field.
type Errors map[string][]string

func (e Errors) add(field, format string, args ...any) {
	e[field] = append(e[field], fmt.Sprintf(format, args...))
}

// Params are the fields of a submission as they came in.
type Params map[string]json.RawMessage

// ReadParams reads the JSON object of a submission. Unknown fields are ignored.
func ReadParams(body []byte) (Params, error) {
	if !utf8.Valid(body) {
		return nil, fmt.Errorf("the body is not UTF-8")
	}
	var p Params
	if err := json.Unmarshal(body, &p); err != nil || p == nil {
		return nil, fmt.Errorf("the body is not a JSON object")
	}
	return p, nil
}

// FormParams returns the fields of a form.
func FormParams(values map[string]string) Params {
	p := Params{}
	for name, value := range values {
		if b, err := json.Marshal(value); err == nil {
			p[name] = b
		}
	}
	return p
}

// Asked is what a submission was asked with, for the answers that tell.
type Asked struct {
	LanguageID    int     `json:"language_id"`
	CPUTime       float64 `json:"cpu_time_limit"`
	CPUExtra      float64 `json:"cpu_extra_time"`
	WallTime      float64 `json:"wall_time_limit"`
	Memory        float64 `json:"memory_limit"` // KB
	Stack         float64 `json:"stack_limit"`  // KB; memory_limit bounds the stack
	Processes     float64 `json:"max_processes_and_or_threads"`
	PerTime       bool    `json:"enable_per_process_and_thread_time_limit"`
	PerMemory     bool    `json:"enable_per_process_and_thread_memory_limit"`
	FileSize      float64 `json:"max_file_size"` // KB
	Runs          float64 `json:"number_of_runs"`
	Options       *string `json:"compiler_options"`
	Arguments     *string `json:"command_line_arguments"`
	MergeStderr   bool    `json:"redirect_stderr_to_stdout"`
	Network       bool    `json:"enable_network"`
	CallbackURL   *string `json:"callback_url"`
	Archive       []byte  `json:"additional_files,omitempty"`
	SeveralInputs bool    `json:"several_inputs,omitempty"` // the field tests was there
}

// Limit is a number of a submission: its default and its bounds.
type Limit struct {
	Field             string
	Default, Min, Max float64
	Seconds           bool // it has decimals
	above             bool // Min itself is too little
	endless           bool // 0 stands for Max: there is always a limit
	into              func(*Asked) *float64
}

// Shown writes a number as clients read it in such a field.
func (l Limit) Shown(n float64) json.Number {
	if l.Seconds {
		return json.Number(decimal(n))
	}
	return json.Number(strconv.FormatFloat(n, 'f', -1, 64))
}

// Limits are the numbers that a submission may name. Defaults and bounds are those that clients expect, as far as the
// server gives so much.
func Limits(most judge.RunLimits) []Limit {
	cpu, wall := min(15, float64(most.CPUMillis)/1000), min(20, float64(most.WallMillis)/1000)
	memory, file, processes := min(512_000, float64(most.MemoryKiB)), min(4096, float64(most.OutputKiB)), min(120, float64(most.Processes))
	return []Limit{
		{Field: "number_of_runs", Default: 1, Max: 20, above: true, into: func(a *Asked) *float64 { return &a.Runs }},
		{Field: "cpu_time_limit", Default: min(5, cpu), Max: cpu, Seconds: true, endless: true, into: func(a *Asked) *float64 { return &a.CPUTime }},
		{Field: "cpu_extra_time", Default: 1, Max: 5, Seconds: true, into: func(a *Asked) *float64 { return &a.CPUExtra }},
		{Field: "wall_time_limit", Default: min(10, wall), Min: 1, Max: wall, Seconds: true, into: func(a *Asked) *float64 { return &a.WallTime }},
		{Field: "memory_limit", Default: min(128_000, memory), Min: 2048, Max: memory, into: func(a *Asked) *float64 { return &a.Memory }},
		{Field: "stack_limit", Default: min(64_000, memory), Max: min(128_000, memory), into: func(a *Asked) *float64 { return &a.Stack }},
		{Field: "max_processes_and_or_threads", Default: min(60, processes), Max: processes, above: true, into: func(a *Asked) *float64 { return &a.Processes }},
		{Field: "max_file_size", Default: min(1024, file), Max: file, endless: true, into: func(a *Asked) *float64 { return &a.FileSize }},
	}
}

// maxLine bounds compiler options and command-line arguments, in characters, and maxTests the tests of a submission.
const (
	maxLine  = 512
	maxTests = 20
)

// Decode makes a run of a submission. The languages are those that exist, and
// most what a run may ask for. What is wrong comes by field.
func Decode(p Params, encoded bool, languages []judge.Language, most judge.RunLimits) (judge.RunPayload, *Asked, Errors) {
	d := &decoder{params: p, encoded: encoded, errs: Errors{}}
	a := &Asked{}
	run := judge.RunPayload{SchemaVersion: judge.PayloadVersion, ContentType: judge.RunType, Writable: true}
	for _, l := range Limits(most) {
		*l.into(a) = d.number(l)
	}
	d.language(&run, a, languages)
	a.PerTime, a.PerMemory = d.truth("enable_per_process_and_thread_time_limit"), d.truth("enable_per_process_and_thread_memory_limit")
	if a.Network = d.truth("enable_network"); a.Network {
		d.errs.add("enable_network", "enabling network is not allowed")
	}
	a.MergeStderr = d.truth("redirect_stderr_to_stdout")
	a.Options, run.Options = d.words("compiler_options")
	a.Arguments, run.Args = d.words("command_line_arguments")
	a.CallbackURL = d.callback()
	if text, ok := d.text("additional_files"); ok {
		var err error
		var files []judge.RunFile
		if a.Archive, err = fromBase64(text); err != nil {
			d.errs.add("additional_files", "is not Base64")
		} else if files, err = unzip(a.Archive); err != nil {
			d.errs.add("additional_files", "%v", err)
		}
		run.Files = d.beside(run, files)
	}
	run.Tests, a.SeveralInputs = d.tests()
	if len(d.errs) > 0 {
		return run, a, d.errs
	}
	given := map[string]float64{}
	for _, l := range Limits(most) {
		given[l.Field] = *l.into(a)
		if l.endless && given[l.Field] == 0 {
			given[l.Field] = l.Max
		}
	}
	run.Limits = judge.RunLimits{
		CPUMillis: millis(given["cpu_time_limit"]), WallMillis: millis(given["wall_time_limit"]), MemoryKiB: int64(given["memory_limit"]),
		OutputKiB: int64(given["max_file_size"]), Processes: int(given["max_processes_and_or_threads"]),
	}
	run.Repeat, run.MergeStderr = int(a.Runs), a.MergeStderr
	var err error
	if run.Asked, err = json.Marshal(a); err != nil {
		d.errs.add("base", "%v", err)
		return run, a, d.errs
	}
	return run, a, nil
}

func millis(seconds float64) int64 { return max(1, int64(math.Round(seconds*1000))) }

type decoder struct {
	params  Params
	encoded bool
	errs    Errors
}

// has reports whether a field is there and not null.
func (d *decoder) has(field string) bool {
	raw, ok := d.params[field]
	return ok && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// beside returns the files of a run and those of an archive, which do not take the place of the program.
func (d *decoder) beside(run judge.RunPayload, archive []judge.RunFile) []judge.RunFile {
	var own []string
	for _, s := range run.Sources {
		own = append(own, s.Name)
	}
	for _, f := range run.Files {
		own = append(own, f.Name)
	}
	out := run.Files
	for _, f := range archive {
		for _, name := range own {
			if strings.HasPrefix(f.Name, name+"/") {
				d.errs.add("additional_files", "has %.60q, but %q is the program itself and no folder", f.Name, name)
				return out
			}
		}
		if !slices.ContainsFunc(run.Files, func(o judge.RunFile) bool { return o.Name == f.Name }) {
			out = append(out, f)
		}
	}
	return out
}

// text returns a string, or a number or truth value as it is written.
func (d *decoder) text(field string) (string, bool) {
	if !d.has(field) {
		return "", false
	}
	return d.textOf(field, d.params[field])
}

func (d *decoder) textOf(field string, raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	var text string
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[':
		d.errs.add(field, "is not a text")
		return "", false
	case raw[0] != '"':
		return string(raw), true
	case json.Unmarshal(raw, &text) != nil:
		d.errs.add(field, "is not a text")
		return "", false
	}
	return text, true
}

// data returns a text that is in Base64 if the request says so.
func (d *decoder) data(field string, raw json.RawMessage) []byte {
	text, ok := d.textOf(field, raw)
	if !ok || !d.encoded {
		return []byte(text)
	}
	b, err := fromBase64(text)
	if err != nil {
		d.errs.add(field, "is not Base64")
	}
	return b
}

// fromBase64 decodes text with line breaks in it, and with or without padding.
func fromBase64(text string) ([]byte, error) {
	text = strings.Map(func(c rune) rune {
		if strings.ContainsRune(" \t\r\n", c) {
			return -1
		}
		return c
	}, text)
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}

func (d *decoder) number(l Limit) float64 {
	text, ok := d.text(l.Field)
	if !ok || text == "" {
		return l.Default
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		d.errs.add(l.Field, "is not a number")
	case l.above && n <= l.Min:
		d.errs.add(l.Field, "must be greater than %s", shown(l.Min))
	case n < l.Min:
		d.errs.add(l.Field, "must be greater than or equal to %s", shown(l.Min))
	case n > l.Max:
		d.errs.add(l.Field, "must be less than or equal to %s", l.Shown(l.Max))
	}
	if !l.Seconds {
		n = max(math.Trunc(n), math.Ceil(l.Min))
	}
	return n
}

func shown(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (d *decoder) truth(field string) bool {
	text, ok := d.text(field)
	if !ok {
		return false
	}
	switch strings.ToLower(text) {
	case "", "false", "f", "0", "off":
		return false
	}
	return true
}

func (d *decoder) words(field string) (*string, []string) {
	line, ok := d.text(field)
	if !ok {
		return nil, nil
	}
	if utf8.RuneCountInString(line) > maxLine {
		d.errs.add(field, "is too long (maximum is %d characters)", maxLine)
		return nil, nil
	}
	words, err := splitWords(line)
	if err != nil || strings.ContainsRune(line, 0) {
		d.errs.add(field, "is not a command line")
	}
	return &line, words
}

func (d *decoder) callback() *string {
	text, ok := d.text("callback_url")
	if !ok || text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || len(text) > 2000 {
		d.errs.add("callback_url", "is not an http or https address")
	}
	return &text
}

// language reads the language and the program, which depends on it.
func (d *decoder) language(run *judge.RunPayload, a *Asked, languages []judge.Language) {
	text, ok := d.text("language_id")
	id, err := strconv.Atoi(text)
	if !ok || text == "" {
		d.errs.add("language_id", "can't be blank")
	}
	l := Find(languages, id)
	switch {
	case err != nil || l == nil:
		d.errs.add("language_id", "language with id %.20s doesn't exist", text)
	case !l.Available:
		d.errs.add("language_id", "language with id %d is archived and cannot be used anymore", id)
		d.errs.add("language_id", "no running worker serves it")
	default:
		run.Language = l.ID
	}
	a.LanguageID = id
	if id == MultiFile {
		if d.has("source_code") && string(d.params["source_code"]) != `""` {
			d.errs.add("source_code", "must be blank")
		}
		if !d.has("additional_files") {
			d.errs.add("additional_files", "can't be blank")
		}
		return
	}
	var source []byte
	if d.has("source_code") {
		source = d.data("source_code", d.params["source_code"])
	}
	switch {
	case len(d.errs["source_code"]) > 0:
	case len(bytes.TrimSpace(source)) == 0:
		d.errs.add("source_code", "can't be blank")
	case id == Executable:
		run.Files = append(run.Files, executable(source)...)
		return
	case !utf8.Valid(source) || bytes.IndexByte(source, 0) >= 0:
		d.errs.add("source_code", "is not UTF-8 text")
	}
	run.Sources = []judge.Source{{Name: sourceFile(l), Text: string(source)}}
}

// tests reads what the program is run on: stdin and expected_output, or a list of such pairs in the field tests.
func (d *decoder) tests() (tests []judge.RunTest, several bool) {
	if !d.has("tests") {
		return []judge.RunTest{d.test(d.params, "")}, false
	}
	var list []Params
	if json.Unmarshal(d.params["tests"], &list) != nil || len(list) == 0 || len(list) > maxTests {
		d.errs.add("tests", "is not a list of 1 to %d objects", maxTests)
		return nil, true
	}
	if d.has("stdin") || d.has("expected_output") {
		d.errs.add("tests", "cannot be there together with stdin or expected_output")
	}
	for i, one := range list {
		tests = append(tests, d.test(one, fmt.Sprintf("tests[%d].", i)))
	}
	return tests, true
}

func (d *decoder) test(p Params, at string) (t judge.RunTest) {
	read := func(name string) ([]byte, bool) {
		one := decoder{params: p, encoded: d.encoded, errs: Errors{}}
		if !one.has(name) {
			return nil, false
		}
		b := one.data(name, p[name])
		for _, said := range one.errs[name] {
			d.errs.add(at+name, "%s", said)
		}
		return b, true
	}
	t.Input, _ = read("stdin")
	if expected, ok := read("expected_output"); ok {
		t.Expected = &expected
	}
	return t
}
