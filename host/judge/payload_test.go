package judge_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"deepoj/host/judge"
)

func FuzzAPayloadIsReadAsItWasWritten(f *testing.F) {
	f.Add("aplusb", "cpp", "main.cpp", "int main() {}\n", "b.h", "\n\x00\xff\n")
	f.Add("", "", "", "", "", "")
	f.Fuzz(func(t *testing.T, problem, language, name1, text1, name2, text2 string) {
		for _, s := range []*string{&problem, &language, &name1, &name2} {
			*s = strings.ToValidUTF8(*s, "?") // names are checked when they are handed in; texts may be anything
		}
		p := judge.Payload{
			SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: problem, Language: language,
			Sources: []judge.Source{{Name: name1, Text: text1}, {Name: name2, Text: text2}},
		}
		raw, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := judge.DecodePayload(raw); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%+v was read as %+v, %v", p, got, err)
		}
		if text1+text2 != "" {
			if _, err := judge.DecodePayload(raw[:len(raw)-1]); err == nil {
				t.Error("a payload without its last byte was read")
			}
		}
		if _, err := judge.DecodePayload(append(raw, 'x')); err == nil {
			t.Error("a payload with another byte was read")
		}
	})
}

func TestPayloadsOfOlderProgramsAreRead(t *testing.T) {
	t.Parallel()
	want := judge.Payload{
		SchemaVersion: 1, ContentType: judge.PayloadType, Problem: "aplusb", Language: "cpp",
		Sources: []judge.Source{{Name: "a.cpp", Text: "x\ny"}, {Name: "b.h"}},
	}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := judge.DecodePayload(raw); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestABrokenPayloadIsRefused(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"nothing":          "",
		"no JSON":          "x\ny",
		"a negative size":  `{"sources":[{"name":"a","bytes":-1}]}` + "\n",
		"too few bytes":    `{"sources":[{"name":"a","bytes":3}]}` + "\nxy",
		"two texts":        `{"sources":[{"name":"a","bytes":1,"text":"x"}]}` + "\nx",
		"text and no line": `{"sources":[{"name":"a","bytes":3}]}`,
	} {
		if p, err := judge.DecodePayload([]byte(raw)); err == nil {
			t.Errorf("%s: read %+v", name, p)
		}
	}
}
