package pg

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// Statement is a named statement of statements/*.sql with its @names numbered.
type Statement struct {
	Text   string
	name   string
	params []string // the name behind $1, $2, …
}

// Args are the parameters of a statement by name.
type Args map[string]any

// Bind puts a in the order of the statement's parameters. A missing or unknown
// name is a mistake of its caller and fails on the first call.
func (st *Statement) Bind(a Args) ([]any, error) {
	if len(a) != len(st.params) {
		return nil, fmt.Errorf("statement %s takes %d parameters, got %d", st.name, len(st.params), len(a))
	}
	values := make([]any, len(st.params))
	for i, p := range st.params {
		v, ok := a[p]
		if !ok {
			return nil, fmt.Errorf("statement %s needs parameter %s", st.name, p)
		}
		values[i] = v
	}
	return values, nil
}

var (
	nameLine  = regexp.MustCompile(`(?m)^-- name: (\w+)( :\w+)?$`)
	paramName = regexp.MustCompile(`@([a-z_]+)`)
	partName  = regexp.MustCompile(`@([A-Z]\w+)`)
	comment   = regexp.MustCompile(`(?m)--.*$`)
)

// partCommand marks what several statements have in common. They say @Name where it belongs.
const partCommand = " :part"

// parseStatements reads the statements of fsys, which pgx runs as they stand.
func parseStatements(fsys fs.FS) (map[string]*Statement, error) {
	files, err := fs.Glob(fsys, "statements/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list statements: %w", err)
	}
	bodies, parts := map[string]string{}, map[string]string{}
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("read statements: %w", err)
		}
		marks := nameLine.FindAllSubmatchIndex(data, -1)
		for i, m := range marks {
			into := bodies
			name := string(data[m[2]:m[3]])
			if m[4] >= 0 {
				if command := string(data[m[4]:m[5]]); command != partCommand {
					return nil, fmt.Errorf("%s: statement %s has sqlc's command%s, so it belongs in queries", file, name, command)
				}
				into = parts
			}
			end := len(data)
			if i+1 < len(marks) {
				end = marks[i+1][0]
			}
			if _, twice := into[name]; twice {
				return nil, fmt.Errorf("%s: statement %s exists twice", file, name)
			}
			into[name] = comment.ReplaceAllString(string(data[m[1]:end]), "")
		}
	}
	out := map[string]*Statement{}
	for name, body := range bodies {
		whole, err := assemble(body, parts)
		if err != nil {
			return nil, fmt.Errorf("statement %s: %w", name, err)
		}
		out[name] = number(name, whole)
	}
	return out, nil
}

// assemble puts parts where body names them.
func assemble(body string, parts map[string]string) (string, error) {
	var unknown error
	whole := partName.ReplaceAllStringFunc(body, func(at string) string {
		part, ok := parts[at[1:]]
		if !ok {
			unknown = fmt.Errorf("there is no part %s", at[1:])
		}
		return strings.TrimSpace(part)
	})
	return whole, unknown
}

// number replaces @name by $n, in the order of first use.
func number(name, body string) *Statement {
	st := &Statement{name: name}
	known := map[string]int{}
	body = comment.ReplaceAllString(body, "")
	st.Text = strings.TrimSpace(paramName.ReplaceAllStringFunc(body, func(at string) string {
		p := at[1:]
		if known[p] == 0 {
			st.params = append(st.params, p)
			known[p] = len(st.params)
		}
		return "$" + strconv.Itoa(known[p])
	}))
	st.Text = "/* " + name + " */ " + strings.TrimSuffix(st.Text, ";")
	return st
}
