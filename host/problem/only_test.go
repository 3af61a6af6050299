package problem

import (
	"slices"
	"strings"
	"testing"
)

func names(g *Group) (all []string) {
	for _, item := range g.Items {
		if item.Test != nil {
			all = append(all, item.Test.Name)
		} else {
			all = append(all, names(item.Group)...)
		}
	}
	return all
}

func TestOnlyTheTestsThatMatchAreLeft(t *testing.T) {
	test := func(name string) Item { return Item{Test: &Test{Name: name}} }
	whole := func() *Group {
		return &Group{Items: []Item{
			{Group: &Group{Name: "sample", Items: []Item{test("sample/1"), test("sample/2")}}},
			{Group: &Group{Name: "secret", Items: []Item{
				test("secret/1"),
				{Group: &Group{Name: "secret/big", Items: []Item{test("secret/big/1")}}},
			}}},
		}}
	}
	for pattern, want := range map[string]string{
		"":             "sample/1 sample/2 secret/1 secret/big/1",
		"sample/*":     "sample/1 sample/2",
		"*/1":          "sample/1 secret/1",
		"secret/big/1": "secret/big/1",
		"[st]*/*/1":    "secret/big/1",
	} {
		before := whole()
		p := &Package{Slug: "p", Root: before}
		if err := p.Only(pattern); err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		if got := strings.Join(names(p.Root), " "); got != want {
			t.Errorf("%q leaves %s, want %s", pattern, got, want)
		}
		if !slices.Equal(names(before), names(whole())) {
			t.Errorf("%q changed the groups that were there before", pattern)
		}
	}
	p := &Package{Slug: "p", Root: whole()}
	if err := p.Only("nothing"); err == nil || !strings.Contains(err.Error(), `no test of p matches "nothing"`) {
		t.Errorf("without a match the error is %v", err)
	}
	if err := p.Only("["); err == nil || !strings.Contains(err.Error(), "syntax error") {
		t.Errorf("of a broken pattern the error is %v", err)
	}
}
