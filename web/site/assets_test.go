package site

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"testing/fstest"
)

func TestAFileThatIsEmbeddedPackedIsServedUnderItsName(t *testing.T) {
	t.Parallel()
	script := strings.Repeat("let x = 1;\n", 100)
	packed := func(text string) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	a, err := loadAssets(fstest.MapFS{
		"static/" + editorBundle + ".gz": {Data: packed(script)},
		"static/plain.js":                {Data: []byte(script)},
		"static/damaged.css.gz":          {Data: []byte("no gzip")},
		"static/unknown.gz":              {Data: packed(script)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !a.hasEditor() || len(a.files) != 3 {
		t.Errorf("files are %v, want those of known types, the editor among them", a.files)
	}
	for _, name := range []string{editorBundle, "plain.js"} {
		file := a.files[name]
		if file == nil {
			t.Fatalf("there is no %s", name)
		}
		if body, err := file.plain(); string(body) != script || err != nil || file.kind != contentTypes[".js"] {
			t.Errorf("%s is of type %s and has %d bytes, %v", name, file.kind, len(body), err)
		}
		if body, err := unpack(file.packed()); string(body) != script || err != nil {
			t.Errorf("%s packed has %d bytes, %v", name, len(body), err)
		}
	}
	if _, err := a.files["damaged.css"].plain(); err == nil {
		t.Error("a damaged file is no error")
	}
}
