package filter

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The obvious filter, which compiles nothing.
func obvious(r Rules, db, dataType, command, key string) bool {
	in := func(names []string, same func(string) bool) bool {
		return len(names) == 0 || slices.ContainsFunc(names, same)
	}
	matches := func(r Rule) bool {
		return in(r.DB, func(p string) bool { return obviousGlob(p, db) }) &&
			in(r.Type, func(t string) bool { return t == dataType }) &&
			in(r.Command, func(c string) bool { return strings.EqualFold(c, command) }) &&
			in(r.Key, func(p string) bool { return obviousGlob(p, key) })
	}
	return (r.Allow == nil || slices.ContainsFunc(r.Allow, matches)) && !slices.ContainsFunc(r.Deny, matches)
}

func obviousGlob(p, s string) bool {
	if p == "" {
		return s == ""
	}
	one := func(ok bool, p string) bool { return ok && obviousGlob(p, s[1:]) }
	switch {
	case p[0] == '*':
		return obviousGlob(p[1:], s) || s != "" && obviousGlob(p, s[1:])
	case s == "":
		return false
	case p[0] == '?':
		return one(true, p[1:])
	case p[0] == '\\':
		return one(p[1] == s[0], p[2:])
	case p[0] == '[':
		end := strings.IndexByte(p, ']') // the tests put no ] into a set
		set := p[1:end]
		not := strings.HasPrefix(set, "^")
		set = strings.TrimPrefix(set, "^")
		has := false
		for len(set) > 0 {
			if len(set) >= 3 && set[1] == '-' {
				has = has || min(set[0], set[2]) <= s[0] && s[0] <= max(set[0], set[2])
				set = set[3:]
				continue
			}
			has = has || set[0] == s[0]
			set = set[1:]
		}
		return one(has != not, p[end+1:])
	}
	return one(p[0] == s[0], p[1:])
}

var (
	types    = []string{"string", "list", "hash", "set", "zset", "stream"}
	patterns = rapid.StringMatching(`(\*|\?|a|b|\\\*|\[a\]|\[\^a\]|\[a-b\]|\[c-a\]|\[ab\]){1,5}`)
	keys     = rapid.StringMatching(`[abc*]{0,6}`)
)

func some[T any](g *rapid.Generator[T]) *rapid.Generator[[]T] { return rapid.SliceOfN(g, 0, 2) }

func drawRules(t *rapid.T, name string) (all []Rule) {
	for range rapid.IntRange(0, 3).Draw(t, name) {
		r := Rule{
			DB:      some(rapid.SampledFrom([]string{"db0", "db1", "db*", "db?", "d[^b]1"})).Draw(t, "db"),
			Type:    some(rapid.SampledFrom(types)).Draw(t, "type"),
			Command: some(rapid.SampledFrom([]string{"set", "HSET", "del"})).Draw(t, "command"),
			Key:     some(patterns).Draw(t, "key"),
		}
		if len(r.DB)+len(r.Type)+len(r.Command)+len(r.Key) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// checkFilter compares a filter with the obvious one, and what it tells a snapshot with what it lets through.
func checkFilter(t *rapid.T) {
	rules := Rules{drawRules(t, "allow"), drawRules(t, "deny")}
	f, err := Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		db := rapid.SampledFrom([]string{"db0", "db1", "db10", "dx1"}).Draw(t, "db")
		dataType := rapid.SampledFrom(types).Draw(t, "type")
		command := rapid.SampledFrom([]string{"SET", "hset", "Del", "zadd"}).Draw(t, "command")
		key := keys.Draw(t, "key")
		got, want := f.Keep(db, dataType, []byte(command), []byte(key)), obvious(rules, db, dataType, command, key)
		if got != want {
			t.Fatalf("Keep(%s, %s, %s, %q) = %t, want %t: %+v", db, dataType, command, key, got, want, rules)
		}
		prefixes := f.Prefixes(db)
		if got && !slices.Contains(f.Types(db, types), dataType) {
			t.Fatalf("a snapshot leaves out type %s, which %+v lets through", dataType, rules)
		}
		if got && prefixes != nil && !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
			t.Fatalf("a snapshot reads %q, and not %q, which %+v lets through", prefixes, key, rules)
		}
	}
}

func TestAFilterKeepsWhatTheObviousOneKeeps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkFilter)
}

// Every short pattern against every short key.
func TestAPatternMatchesWhatTheObviousOneMatches(t *testing.T) {
	t.Parallel()
	grow := func(all []string, by ...string) (more []string) {
		for _, s := range all {
			for _, b := range by {
				more = append(more, s+b)
			}
		}
		return more
	}
	patterns, texts := []string{""}, []string{""}
	last := texts
	for range 5 {
		last = grow(last, "a", "b")
		texts = append(texts, last...)
	}
	for range 4 {
		patterns = grow(patterns, "*", "?", "a", "b", "[^a]")
		for _, p := range patterns {
			g, err := compileGlob(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range texts {
				if got, want := g.match([]byte(s)), obviousGlob(p, s); got != want {
					t.Fatalf("%q matches %q: %t, want %t", p, s, got, want)
				}
			}
		}
	}
}

// FuzzFilter compares filters with the obvious one.
func FuzzFilter(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkFilter)) }

// FuzzGlob compiles any pattern: it is refused, or matches what it is when everything in it is escaped.
func FuzzGlob(f *testing.F) {
	f.Add("user:[0-9]*", "user:1")
	f.Add(`[^\]]`, "]")
	f.Add("[", "[")
	f.Fuzz(func(t *testing.T, p, s string) {
		if g, err := compileGlob(p); err == nil {
			_ = g.match([]byte(s))
		}
		var literal strings.Builder
		for _, c := range []byte(p) {
			literal.Write([]byte{'\\', c})
		}
		g, err := compileGlob(literal.String())
		if (err == nil) != (p != "") {
			t.Fatalf("%q escaped: %v", p, err)
		}
		if err == nil && g.match([]byte(s)) != (p == s) {
			t.Fatalf("%q escaped matches %q", p, s)
		}
	})
}

func TestWhatASnapshotNeedNotReadComesFromTheFilter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rules    Rules
		types    string
		prefixes []string
	}{
		"no rules":                 {Rules{}, "string list hash set zset stream", nil},
		"some types":               {Rules{Allow: []Rule{{Type: []string{"hash"}}, {Type: []string{"set", "hash"}}}}, "hash set", nil},
		"all but a type":           {Rules{Deny: []Rule{{Type: []string{"zset"}}}}, "string list hash set stream", nil},
		"a type denied by command": {Rules{Deny: []Rule{{Type: []string{"zset"}, Command: []string{"zrem"}}}}, "string list hash set zset stream", nil},
		"a type denied by key":     {Rules{Deny: []Rule{{Type: []string{"zset"}, Key: []string{"a*"}}}}, "string list hash set zset stream", nil},
		"a type denied elsewhere":  {Rules{Deny: []Rule{{Type: []string{"zset"}, DB: []string{"db1"}}}}, "string list hash set zset stream", nil},
		"prefixes": {
			Rules{Allow: []Rule{{Key: []string{"user:*", "session:?", "user:1*"}}, {Key: []string{"a[bc]"}}}},
			"string list hash set zset stream",
			[]string{"a", "session:", "user:"},
		},
		"an escape":              {Rules{Allow: []Rule{{Key: []string{`a\*b*`}}}}, "string list hash set zset stream", []string{"a*b"}},
		"any key in one of them": {Rules{Allow: []Rule{{Key: []string{"user:*"}}, {Type: []string{"set"}}}}, "string list hash set zset stream", nil},
		"a star in one of them":  {Rules{Allow: []Rule{{Key: []string{"user:*", "*x"}}}}, "string list hash set zset stream", nil},
		"another database":       {Rules{Allow: []Rule{{DB: []string{"db1"}}}}, "", []string{}},
	} {
		f, err := Compile(tt.rules)
		if err != nil {
			t.Fatal(err)
		}
		prefixes := f.Prefixes("db0")
		if got := strings.Join(f.Types("db0", types), " "); got != tt.types || !slices.Equal(prefixes, tt.prefixes) || (prefixes == nil) != (tt.prefixes == nil) {
			t.Errorf("%s: types %q, prefixes %q (any: %t), want %q, %q", name, got, prefixes, prefixes == nil, tt.types, tt.prefixes)
		}
	}
	var none *Filter
	if !none.Keep("db0", "string", []byte("set"), []byte("k")) || none.Prefixes("db0") != nil || len(none.Types("db0", types)) != len(types) {
		t.Error("no filter keeps something back")
	}
}

func TestRulesThatMeanNothingAreRefusedByTheirPlace(t *testing.T) {
	t.Parallel()
	_, err := Compile(Rules{
		Allow: []Rule{{Key: []string{"ok", "a[b"}}, {}},
		Deny:  []Rule{{Type: []string{"ha*"}, Command: []string{""}, DB: []string{""}, Key: []string{`a\`, "[]", "[^]"}}},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`filter.allow[0].key[1]="a[b": has a [ without a ]: write \[ for the character itself`, "filter.allow[1]: names nothing",
		`filter.deny[0].type[0]="ha*": must be a name, and no pattern`, `filter.deny[0].command[0]="": must be a name`,
		`filter.deny[0].db[0]="": must not be empty`, `filter.deny[0].key[0]="a\\": ends with \`,
		`filter.deny[0].key[1]="[]": has a set of nothing`, `filter.deny[0].key[2]="[^]": has a set of nothing`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// A pattern with many stars, and a key that nearly matches, take no more than their lengths multiplied.
func TestNoPatternTakesForEver(t *testing.T) {
	t.Parallel()
	f, err := Compile(Rules{Allow: []Rule{{Key: []string{strings.Repeat("a*", 200) + "b"}}}})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if f.Keep("db0", "string", []byte("set"), bytes.Repeat([]byte("a"), 20_000)) {
		t.Error("it matches")
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestKeepAllocatesNothing(t *testing.T) {
	f, err := Compile(Rules{Allow: []Rule{{DB: []string{"db*"}, Command: []string{"set", "hset"}, Key: []string{"user:*"}}}, Deny: []Rule{{Type: []string{"list"}}}})
	if err != nil {
		t.Fatal(err)
	}
	command, key := []byte("HSET"), []byte("user:1")
	if n := testing.AllocsPerRun(100, func() {
		if !f.Keep("db0", "hash", command, key) {
			t.Error("dropped")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func ExampleCompile() {
	f, err := Compile(Rules{
		Allow: []Rule{{Key: []string{"user:*"}}},
		Deny:  []Rule{{Command: []string{"expire", "expireat"}}},
	})
	fmt.Println(err, f.Keep("db0", "hash", []byte("HSET"), []byte("user:7")), f.Keep("db0", "generic", []byte("expire"), []byte("user:7")))
	fmt.Println(f.Prefixes("db0"))
	// Output:
	// <nil> true false
	// [user:]
}
