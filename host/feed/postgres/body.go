package postgres

import (
	"bytes"
	"encoding/json"
)

// compiled is the kind of event that tells what a compiler said.
const compiled = "compiled"

// discreet takes out of the data of a compilation what compilers say, because they quote the program. It is done before
// anything is written to disk.
func discreet(data []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	var compile map[string]json.RawMessage
	if raw, ok := all["compile"]; ok {
		if json.Unmarshal(raw, &compile) != nil {
			delete(all, "compile")
		}
	}
	if compile != nil {
		delete(compile, "output")
		delete(compile, "diagnostics")
		b, err := json.Marshal(compile)
		if err != nil {
			return nil
		}
		all["compile"] = b
	}
	b, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return b
}

// shown are the members of an event's data that the API shows to staff: see web/job. What is not listed here does not
// leave the feed.
var shown = [][]byte{
	[]byte("compile"), []byte("test"), []byte("total"), []byte("verdict"), []byte("score"), []byte("finding"),
	[]byte("worker"), []byte("by"), []byte("why"), []byte("error"),
}

func isShown(name []byte) bool {
	for _, s := range shown {
		if bytes.Equal(s, name) {
			return true
		}
	}
	return false
}

// appendBody appends the members of data, a JSON object, that are shown, as an object. Data that cannot be read is none.
func appendBody(dst, data []byte) []byte {
	start := len(dst)
	dst = append(dst, '{')
	i := skipSpace(data, 0)
	if i >= len(data) || data[i] != '{' {
		return append(dst, '}')
	}
	i = skipSpace(data, i+1)
	for i < len(data) && data[i] != '}' {
		if data[i] != '"' {
			return append(dst[:start], "{}"...)
		}
		nameEnd := skipString(data, i)
		if nameEnd < 0 {
			return append(dst[:start], "{}"...)
		}
		name := data[i+1 : nameEnd-1]
		i = skipSpace(data, nameEnd)
		if i >= len(data) || data[i] != ':' {
			return append(dst[:start], "{}"...)
		}
		from := skipSpace(data, i+1)
		end := skipValue(data, from)
		if end < 0 {
			return append(dst[:start], "{}"...)
		}
		if value := data[from:end]; isShown(name) && !empty(name, value) {
			if len(dst) > start+1 {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, '"'), name...), `":`...)
			dst = append(dst, value...)
		}
		if i = skipSpace(data, end); i < len(data) && data[i] == ',' {
			i = skipSpace(data, i+1)
		}
	}
	return append(dst, '}')
}

// empty reports whether the API leaves a value out. A score of 0 is one.
func empty(name, value []byte) bool {
	switch string(value) {
	case "null", `""`:
		return true
	case "0":
		return string(name) == "total"
	}
	return false
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipString returns where the string that begins at i has ended, or -1.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// skipValue returns where the value that begins at i has ended, or -1.
func skipValue(b []byte, i int) int {
	depth := 0
	from := i
	for i < len(b) {
		switch c := b[i]; c {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				if i == from {
					return -1
				}
				return i
			}
			if c != ',' {
				if depth--; depth == 0 {
					return i + 1
				}
			}
		case ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}

// appendWord appends a JSON string, which mostly is a word such as AC.
func appendWord(dst, word []byte) []byte {
	for _, c := range word {
		if c < 'A' || c > 'Z' {
			b, err := json.Marshal(string(word))
			if err != nil {
				return append(dst, `""`...)
			}
			return append(dst, b...)
		}
	}
	return append(append(append(dst, '"'), word...), '"')
}
