package conformance

import (
	"io"
	"strings"
	"testing"

	"deepoj/plugins/vectors"
)

// Pieces are read in blocks, of which the last is rarely whole.
func TestAnOutputIsItsPiecesAsOftenAsTheyAreRepeated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		piece  string
		repeat int
	}{
		"nothing":                        {"", 1},
		"nothing many times":             {"", 1000},
		"once":                           {"1 2\n", 1},
		"as often as makes a block":      {"7", blockBytes},
		"one more than that":             {"7", blockBytes + 1},
		"blocks and a rest":              {"12 gamma\n", 100_003},
		"pieces that are hardly a block": {strings.Repeat("x", blockBytes-1), 3},
		"pieces that are more":           {strings.Repeat("xy", blockBytes), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutput(name, vectors.Part{Text: "head "}, vectors.Part{Text: tt.piece, Repeat: tt.repeat}, vectors.Part{Base64: []byte(" tail")})
			got, err := io.ReadAll(o.reader())
			if err != nil {
				t.Fatal(err)
			}
			want := "head " + strings.Repeat(tt.piece, tt.repeat) + " tail"
			if string(got) != want || o.size != int64(len(want)) {
				t.Errorf("%d bytes, said to be %d, are not the %d that were wanted", len(got), o.size, len(want))
			}
		})
	}
}
