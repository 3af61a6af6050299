package plugin_test

import (
	"bytes"
	"errors"
	"testing"

	"deepoj/host/plugin"
)

func TestAManifestIsEmbeddedInThePlaceOfTheOldOne(t *testing.T) {
	const first, second = `{"judge":1,"kind":"checker","name":"first","version":"1","protocol":"testlib/1"}`, `{
		"judge": 1, "kind": "checker", "name": "second", "version": "1", "protocol": "icpc/1"}`
	wasm := accepting
	for _, manifest := range []string{first, second} {
		var err error
		if wasm, err = plugin.Embed(wasm, []byte(manifest)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := open(t, plugin.Config{Workers: 1}).Load(t.Context(), wasm, nil)
	if err != nil || m.Manifest.Name != "second" || bytes.Contains(wasm, []byte("first")) {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestAManifestThatWouldBeRefusedIsNotEmbedded(t *testing.T) {
	const good = `{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/1"}`
	for name, tt := range map[string]struct {
		wasm     []byte
		manifest string
	}{
		"manifest":  {accepting, `{"judge":1,"kind":"checker"}`},
		"magic":     {[]byte("text"), good},
		"malformed": {accepting[:len(accepting)-2], good},
	} {
		var refusal *plugin.Refusal
		if _, err := plugin.Embed(tt.wasm, []byte(tt.manifest)); !errors.As(err, &refusal) || refusal.Rule != name {
			t.Errorf("got %v, want a refusal by rule %s", err, name)
		}
	}
}
