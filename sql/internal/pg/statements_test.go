package pg_test

import (
	"slices"
	"testing"

	"deepoj/sql/internal/pg"
)

func TestStatementsShareParts(t *testing.T) {
	t.Parallel()
	whole, err := pg.Assemble("WITH @Some, x AS (SELECT @a) TABLE x", map[string]string{"Some": "\ny AS (SELECT @b)\n"})
	if want := "WITH y AS (SELECT @b), x AS (SELECT @a) TABLE x"; err != nil || whole != want {
		t.Errorf("assembled %q, %v", whole, err)
	}
	if _, err := pg.Assemble("WITH @Other", nil); err == nil {
		t.Error("a part that does not exist was found")
	}
}

func TestParametersAreBoundByName(t *testing.T) {
	t.Parallel()
	st, params := pg.Number("X", "SELECT @b::text, @a::int -- not @c\nWHERE @b <> '';")
	if want := "/* X */ SELECT $1::text, $2::int \nWHERE $1 <> ''"; st.Text != want || !slices.Equal(params, []string{"b", "a"}) {
		t.Errorf("numbered %q, %v", st.Text, params)
	}
	if got, err := st.Bind(map[string]any{"a": 1, "b": "x"}); err != nil || got[0] != "x" || got[1] != 1 {
		t.Errorf("bound %v, %v", got, err)
	}
	for _, wrong := range []map[string]any{{"a": 1}, {"a": 1, "c": 2}, {"a": 1, "b": 2, "c": 3}} {
		if _, err := st.Bind(wrong); err == nil {
			t.Errorf("%v was bound", wrong)
		}
	}
}
