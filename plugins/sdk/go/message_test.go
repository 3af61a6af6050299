package sdk_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

// What a guest reads and writes is what encoding/json makes of the same types, which the host uses.

// texts are some that JSON has to take care of.
var texts = []string{
	"", "a", "größe\U0001f600", "\"\\/\b\f\n\r\t", "\x00\x1f\x7f", "<script>&amp;", "\u2028\u2029\ufffd", "\xff\xc0\xafa\xe2\x82", "\xed\xa0\x80",
}

// filler fills every field of a value that reflection finds, so that none can be forgotten here.
type filler struct {
	*rand.Rand

	full bool // nothing is empty
}

func (f filler) some() bool { return f.full || f.IntN(3) > 0 }

func (f filler) fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if v.Type() == reflect.TypeFor[abi.RawMessage]() {
		if f.some() {
			v.SetBytes([]byte([]string{` { "a" : [ 1.5e3 , "<\\\u2028 \" " ] } `, "-0", "null", `"&"`, "[]"}[f.IntN(5)]))
		}
		return
	}
	switch v.Kind() { //nolint:exhaustive // messages hold nothing else
	case reflect.Struct:
		for _, field := range v.Fields() {
			if f.some() {
				f.fill(t, field)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(t, v.Elem())
	case reflect.Slice:
		n := f.IntN(3)
		if f.full {
			n++
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(t, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + f.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(t, key)
			f.fill(t, value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(texts[f.IntN(len(texts))] + texts[f.IntN(len(texts))])
		if f.full && v.Len() == 0 {
			v.SetString("x")
		}
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{1, -1, math.MaxInt64, math.MinInt64, f.Int64()}[f.IntN(5)])
	case reflect.Bool:
		v.SetBool(f.full || f.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat([]float64{1, 0.1, 1e-6, 9.99e-7, -1e20, 1e21, 5e-324, math.MaxFloat64, f.NormFloat64()}[f.IntN(9)])
	default:
		t.Fatalf("the test does not know how to fill a %s", v.Type())
	}
}

func TestAnswersAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, zero := range []any{abi.Manifest{}, abi.Plan{}, abi.DiagnosticsReply{}} {
		for i := range 2000 {
			v := reflect.New(reflect.TypeOf(zero)).Elem()
			filler{rand.New(rand.NewPCG(1, uint64(i))), i%4 == 0}.fill(t, v)
			if i == 1 {
				v = reflect.ValueOf(zero)
			}
			var want bytes.Buffer
			if err := json.NewEncoder(&want).Encode(v.Interface()); err != nil {
				t.Fatal(err)
			}
			if got, err := sdk.Written(v.Interface()); err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("%T: error %v\ngot  %s\nwant %s", zero, err, got, want.Bytes())
			}
		}
	}
}

func TestAnAnswerThatJSONHasNoWordsForIsAnError(t *testing.T) {
	t.Parallel()
	for _, m := range []abi.Manifest{
		{Options: abi.RawMessage(`{"a":}`)},
		{Options: abi.RawMessage(`{} {}`)},
		{Options: abi.RawMessage("1x")},
		{Options: abi.RawMessage(" ")},
		{Options: abi.RawMessage(`"`)},
		{Options: abi.RawMessage(strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001))},
		{Language: &abi.Language{Factor: math.NaN()}},
		{Language: &abi.Language{Factor: math.Inf(-1)}},
	} {
		if _, err := json.Marshal(m); err == nil {
			t.Errorf("encoding/json writes %+v", m)
		}
		if got, err := sdk.Written(m); err == nil || len(got) > 0 {
			t.Errorf("%+v is written as %s", m, got)
		}
	}
}

// compare reads a text both ways, as both kinds of request.
func compare(t *testing.T, text string) {
	t.Helper()
	compareAs(t, text, sdk.ReadPlanRequest)
	compareAs(t, text, sdk.ReadDiagnosticsRequest)
}

func compareAs[T any](t *testing.T, text string, read func(io.Reader) (T, error)) {
	t.Helper()
	var want T
	wantErr := json.NewDecoder(strings.NewReader(text)).Decode(&want)
	for name, in := range map[string]io.Reader{
		"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
	} {
		got, err := read(in)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %q as a %T: error %v, encoding/json has %v", name, text, want, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %q\ngot  %+v\nwant %+v", name, text, got, want)
		}
	}
}

// oddities are texts that readers of JSON disagree about.
var oddities = []string{
	"", " ", "null", "null ", "nullx", "null x", "nul", "[]", "1", `"a"`, "true", "{", "{}", " \t\r\n{}", "{} x", "{}{}", "{}\xff", "\ufeff{}", "\v{}",
	`{"judge":1}`, `{"judge":-0}`, `{"judge":01}`, `{"judge":1.0}`, `{"judge":1e2}`, `{"judge":"1"}`, `{"judge":null}`, `{"judge":+1}`, `{"judge":-}`,
	`{"judge":9223372036854775807}`, `{"judge":9223372036854775808}`, `{"judge":-9223372036854775808}`, `{"judge":-9223372036854775809}`,
	`{"judge":1,"judge":2}`, `{"judge":2,"Judge":3,"JUDGE":null}`, `{"judge":{}}`, `{"judge":[1]}`, `{"judge":true}`,
	`{"ſourceſ":[{"name":"a"}]}`, `{"LIMITS":{"CPU_MS":5}}`, `{"limit\u017f":{"memory_mib":1}}`, `{"hoſt":{"toolſ":{"ſ":{"verſion":"1"}}}}`,
	`{"\u212a":1,"opK":"x","opK":"y"}`, `{"o\u0070":"x"}`, `{"op ":"x"}`, `{"op\u0000":"x"}`, `{"":1}`,
	`{"op":"a\u00e9\uD83D\uDE00\ud83d\ude00"}`, `{"op":"\ud800"}`, `{"op":"\ud800\ud800\udc00"}`, `{"op":"\udc00\ud800"}`, `{"op":"\ud800x\udc00"}`,
	`{"op":"\ud800\n\udc00"}`, `{"op":"\ud800\\udc00"}`, `{"op":"\uD83d\u00e9\uDE00"}`, `{"op":"\ufffd\udc00"}`, "{\"op\":\"\\ud800\ufffd\\udc00\"}",
	"{\"op\":\"\xff\xc0\xaf\xed\xa0\x80\xe2\x82\"}", "{\"\xff\":\"\xff\"}", "{\"op\":\"\xf0\x9f\x98\"}", "{\"op\":\"\xf0\x9f", "{\"op\":\"a\nb\"}", "{\"op\":\"\x7f\"}",
	`{"op":"\x"}`, `{"op":"\u12"}`, `{"op":"\u12g4"}`, "{\"op\":\"\\u12\x10\x104\"}", `{"op":"\u00zz"}`, `{"op":"\'"}`, `{"op":"\`, `{"op":"\u`, `{"op":"`, `{"op":"a`, `{op:1}`, `{"op"}`, `{"op" 1}`,
	`{"op":"a",}`, `{,}`, `{"op":"a" "b":1}`, `{"op":'a'}`, `{"op":nul}`, `{"op":nulL}`, `{"x":tru}`, `{"x":false,"y":true,"z":null}`, `{"x":truee}`, `{"x":NaN}`,
	`{"x":[1,2,{"a":[]}],"op":"b"}`, `{"x":[1,]}`, `{"x":[,1]}`, `{"x":[1 2]}`, `{"x":1.}`, `{"x":.1}`, `{"x":1e}`, `{"x":-1.50E+07}`, `{"x":00}`, `{"x":"\u00"}`, `{"x":{"a":1}}`,
	`{"sources":null}`, `{"sources":[]}`, `{"sources":[null]}`, `{"sources":{}}`, `{"sources":"a"}`, `{"sources":[[]]}`, `{"sources":[{"name":1}]}`, `{"sources":[{"x":1}],}`,
	`{"sources":[{"name":"a","text":"b"},{"text":"c"}],"sources":[{"name":"d"}],"sources":[{},{},{},{}]}`, `{"sources":[{"name":"a"}],"sources":[]}`,
	`{"sources":[{"name":"a"}],"sources":null,"sources":[{}]}`, `{"sources":[{"name":"a"},{"name":"b"},{"name":"c"}],"sources":[{}],"sources":[{"text":"x"},null,{}]}`,
	`{"options":{"a":"1","a":"2"},"options":{"b":"3"}}`, `{"options":{"a":null}}`, `{"options":null}`, `{"options":{}}`, `{"options":{"a":1}}`, `{"options":[]}`, `{"options":{"a":"1"},"options":null}`,
	`{"options":{"\ud800":"1","\ufffd":"2"}}`, `{"limits":null,"host":null}`, `{"limits":{"cpu_ms":1},"limits":{"memory_mib":2}}`, `{"limits":[]}`, `{"host":{"tools":null}}`,
	`{"host":{"tools":{"a":null,"b":{},"c":{"version":"1"},"c":{"x":2}}}}`, `{"host":{"tools":{"c":{"version":"1"}}},"host":{"tools":{"c":{},"d":{"version":null}}}}`,
	`{"x":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`, `{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
	strings.Repeat(`{"x":`, 10_000) + "1" + strings.Repeat("}", 10_000), strings.Repeat(`{"x":`, 10_001) + "1" + strings.Repeat("}", 10_001), strings.Repeat("[", 100_000),
	`{"stdout":"a","STDERR":"b","stderr":"c"}`, `{"entry":"main.py","Entry":1}`, `{"op":"` + strings.Repeat("é\\n", 5000) + `"}`, strings.Repeat(" ", 3000) + "{}", "{}" + strings.Repeat(" ", 3000),
}

func TestRequestsAreReadAsByEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range oddities {
		compare(t, text)
	}
	for _, zero := range []any{abi.PlanRequest{}, abi.DiagnosticsRequest{}} {
		for i := range 500 {
			v := reflect.New(reflect.TypeOf(zero)).Elem()
			random := rand.New(rand.NewPCG(2, uint64(i)))
			filler{random, i%4 == 0}.fill(t, v)
			text, err := json.Marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			compare(t, string(text))
			at := random.IntN(len(text)) // and with a mistake
			compare(t, string(text[:at]))
			compare(t, string(slices.Concat(text[:at], []byte{"{}[]\",:\\0-n \xff"[random.IntN(13)]}, text[at+1:])))
		}
	}
}

func FuzzRequestsAreReadAsByEncodingJSON(f *testing.F) {
	for _, text := range oddities {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		compareAs(t, text, sdk.ReadPlanRequest)
		compareAs(t, text, sdk.ReadDiagnosticsRequest)
	})
}

// FuzzAnswersAreThoseOfEncodingJSON writes any text and any JSON.
func FuzzAnswersAreThoseOfEncodingJSON(f *testing.F) {
	for i, text := range texts {
		f.Add(text, oddities[5*i])
	}
	f.Fuzz(func(t *testing.T, text, raw string) {
		m := abi.Manifest{Name: text, Options: abi.RawMessage(raw)}
		var want bytes.Buffer
		wantErr := json.NewEncoder(&want).Encode(m)
		got, err := sdk.Written(m)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%q and %q: errors %v and %v\ngot  %s\nwant %s", text, raw, err, wantErr, got, want.Bytes())
		}
	})
}

// Who asks by hand need not end the input.
func TestNothingIsReadBeyondTheRequest(t *testing.T) {
	t.Parallel()
	rest := iotest.ErrReader(errors.New("somebody read on"))
	in := io.MultiReader(iotest.OneByteReader(strings.NewReader(`{"judge":1}`)), rest)
	if q, err := sdk.ReadPlanRequest(in); err != nil || q.Judge != 1 {
		t.Errorf("request %+v, error %v", q, err)
	}
	if _, err := sdk.ReadPlanRequest(io.MultiReader(strings.NewReader(`{"judge":1`), rest)); err == nil || !strings.Contains(err.Error(), "somebody") {
		t.Errorf("error is %v, want that of the stream", err)
	}
	if _, err := sdk.ReadPlanRequest(silent{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a stream without end and bytes gives %v", err)
	}
}

// silent is a stream that never says anything.
type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }
