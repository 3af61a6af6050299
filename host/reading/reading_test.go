package reading_test

import (
	"os"
	"testing"

	"deepoj/host/reading"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == reading.Command {
		os.Exit(reading.Child(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func TestTmp(t *testing.T) {
	for _, s := range []string{"aplusb"} {
		r, err := reading.Config{}.Sample(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Files {
			rd, err := r.Open(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			rd.Close()
		}
		t.Log(r.Title, len(r.Files))
		r.Close()
	}
	r, _, err := reading.Config{}.Path(t.Context(), "../problem/samples/testdata/aplusb")
	t.Log(r.Package != nil, err)
}
