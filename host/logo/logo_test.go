package logo_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/logo"
)

func picture(t testing.TB, as func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := as(&out, image.NewGray(image.Rect(0, 0, 64, 32))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pngOf(out *bytes.Buffer, p image.Image) error  { return png.Encode(out, p) }
func jpegOf(out *bytes.Buffer, p image.Image) error { return jpeg.Encode(out, p, nil) }

func TestALogoIsNamedByWhatItIs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data []byte
		want judge.Logo
	}{
		"PNG":                    {picture(t, pngOf), judge.Logo{Name: "logo.64x32.png", Media: "image/png", Width: 64, Height: 32}},
		"JPEG":                   {picture(t, jpegOf), judge.Logo{Name: "logo.64x32.jpg", Media: "image/jpeg", Width: 64, Height: 32}},
		"SVG with its viewport":  {[]byte(`<?xml version="1.0"?><!-- x --><svg xmlns="http://www.w3.org/2000/svg" width="40px" height="20"/>`), judge.Logo{Name: "logo.40x20.svg", Media: "image/svg+xml", Width: 40, Height: 20}},
		"SVG with coordinates":   {[]byte(`<svg viewBox="0 0 300,150" width="100%" height="100%"/>`), judge.Logo{Name: "logo.300x150.svg", Media: "image/svg+xml", Width: 300, Height: 150}},
		"SVG that says no sides": {[]byte(`<svg/>`), judge.Logo{Name: "logo.100x100.svg", Media: "image/svg+xml", Width: 100, Height: 100}},
	} {
		got, err := logo.Read(tt.data)
		if err != nil || len(got.Hash) != 32 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if got.Hash = ""; got != tt.want {
			t.Errorf("%s is %+v, want %+v", name, got, tt.want)
		}
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "a text": []byte("hello"), "another document": []byte("<html/>"), "too many bytes": make([]byte, logo.MaxBytes+1), "a cut PNG": picture(t, pngOf)[:20],
	} {
		if got, err := logo.Read(data); err == nil {
			t.Errorf("%s is %+v", name, got)
		}
	}
}

func FuzzALogoIsReadOrRefused(f *testing.F) {
	f.Add(picture(f, pngOf))
	f.Add(picture(f, jpegOf))
	f.Add([]byte(`<svg viewBox="0 0 1 1"/>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := logo.Read(data); err == nil && (got.Width < 1 || got.Height < 1 || got.Width > logo.MaxSide || got.Name == "" || got.Media == "") {
			t.Errorf("%+v", got)
		}
	})
}
