package pg

// Assemble puts the parts of a statement together.
func Assemble(body string, parts map[string]string) (string, error) { return assemble(body, parts) }

// Number numbers the parameters of a statement.
func Number(name, body string) (st *Statement, params []string) {
	st = number(name, body)
	return st, st.params
}
