package settings

import (
	"reflect"
	"strings"
	"testing"
)

// The rows of a table are read one at a time.
func TestWhatASettingMeansIsSaidWithoutTheRowAboveIt(t *testing.T) {
	t.Parallel()
	meanings := map[string]string{}
	for _, r := range table(&Settings{}) {
		for _, begin := range []string{"and ", "or ", "the same ", "its ", "what they ", "of that ", "what goes "} {
			if strings.HasPrefix(r.doc, begin) {
				t.Errorf("%s is described by %q, which does not stand alone", r.env, r.doc)
			}
		}
		if r.doc == "" || strings.Contains(r.doc, "likewise") || strings.HasSuffix(r.doc, ".") || strings.ContainsAny(r.doc, "\n\t") {
			t.Errorf("%s is described by %q, which is no sentence without its full stop", r.env, r.doc)
		}
		if other := meanings[r.doc]; other != "" {
			t.Errorf("%s and %s are both described by %q", other, r.env, r.doc)
		}
		meanings[r.doc] = r.env
	}
}

func TestEverySettingFillsAFieldOfItsOwnAndEveryFieldHasASetting(t *testing.T) {
	t.Parallel()
	s := &Settings{}
	filled, names, paths := map[any]string{}, map[string]bool{}, map[string]bool{}
	for _, r := range table(s) {
		if other := filled[r.value.field]; other != "" {
			t.Errorf("%s and %s fill the same field", other, r.env)
		}
		if names[r.env] || paths[r.yaml] {
			t.Errorf("%s (%s) is in the table twice", r.env, r.yaml)
		}
		filled[r.value.field], names[r.env], paths[r.yaml] = r.env, true, true
	}
	for _, field := range leaves(reflect.ValueOf(s).Elem(), "Settings") {
		if filled[field.at] == "" {
			t.Errorf("no setting fills %s", field.name)
		}
		delete(filled, field.at)
	}
	for _, env := range filled {
		t.Errorf("%s fills what is no field of Settings", env)
	}
}

// leaf is a field that is no struct.
type leaf struct {
	name string
	at   any
}

func leaves(v reflect.Value, name string) (all []leaf) {
	for i := range v.NumField() {
		field, of := v.Field(i), name+"."+v.Type().Field(i).Name
		if field.Kind() == reflect.Struct {
			all = append(all, leaves(field, of)...)
		} else {
			all = append(all, leaf{of, field.Addr().Interface()})
		}
	}
	return all
}
