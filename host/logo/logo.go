// Package logo says what kind of picture the logo of an organization is, and how large.
package logo

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // is one of the kinds
	_ "image/png"  // likewise
	"strconv"
	"strings"

	"deepoj/host/judge"
)

// Bounds of a logo.
const (
	MaxBytes = 1 << 20
	MaxSide  = 8192 // pixels
)

// kinds are those that there may be, with what files of them are called.
var kinds = map[string]struct{ media, extension string }{
	"png": {"image/png", "png"}, "jpeg": {"image/jpeg", "jpg"}, "svg": {"image/svg+xml", "svg"},
}

// Read says what a picture is: PNG, JPEG or SVG. Its name is that of the Contest Package Format, such as logo.64x64.png. Of an SVG
// that does not say its size, the sides are 100.
func Read(data []byte) (judge.Logo, error) {
	if len(data) > MaxBytes {
		return judge.Logo{}, fmt.Errorf("a logo has at most %d KiB", MaxBytes>>10)
	}
	is, kind, err := image.DecodeConfig(bytes.NewReader(data))
	width, height := is.Width, is.Height
	if err != nil {
		kind = "svg"
		if width, height, err = drawn(data); err != nil {
			return judge.Logo{}, err
		}
	}
	if width < 1 || height < 1 || width > MaxSide || height > MaxSide {
		return judge.Logo{}, fmt.Errorf("the sides of a logo have from 1 to %d pixels, and not %d and %d", MaxSide, width, height)
	}
	sum := md5.Sum(data)
	k := kinds[kind]
	return judge.Logo{
		Name: fmt.Sprintf("logo.%dx%d.%s", width, height, k.extension), Media: k.media, Width: width, Height: height, Hash: hex.EncodeToString(sum[:]),
	}, nil
}

// unknown is a side of an SVG that does not say it.
const unknown = 100

// drawn is the size of an SVG: that of its viewport, or of its coordinates.
func drawn(data []byte) (width, height int, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err != nil {
			return 0, 0, errors.New("a logo is a PNG, a JPEG or an SVG")
		}
		root, is := token.(xml.StartElement)
		if !is {
			continue
		}
		if root.Name.Local != "svg" {
			return 0, 0, errors.New("a logo is a PNG, a JPEG or an SVG")
		}
		said := map[string]string{}
		for _, a := range root.Attr {
			said[a.Name.Local] = a.Value
		}
		width, height = side(said["width"]), side(said["height"])
		if box := strings.FieldsFunc(said["viewBox"], func(r rune) bool { return r == ' ' || r == ',' }); len(box) == 4 && (width == 0 || height == 0) {
			width, height = side(box[2]), side(box[3])
		}
		if width == 0 || height == 0 {
			width, height = unknown, unknown
		}
		return width, height, nil
	}
}

// side is a length in pixels; 0 = it is in something else.
func side(text string) int {
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "px"), 64)
	if err != nil || !(x >= 0.5 && x <= MaxSide) {
		return 0
	}
	return int(x + 0.5)
}
