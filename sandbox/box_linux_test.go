package sandbox_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"deepoj/sandbox"
)

func TestFilesArePutBelowTheBoxOnly(t *testing.T) {
	a := shared.get(t)
	b := open(t, a, sandbox.BoxOptions{})
	for _, path := range []string{"", ".", "..", "/etc/passwd", "../x", "a/../../x", "a/../x", "a//b", "./a", "a/", "a\x00b", strings.Repeat("a", 2000)} {
		if err := b.Put(t.Context(), sandbox.File{Path: path}); err == nil {
			t.Errorf("Put(%q) worked", path)
		}
	}
	files := []sandbox.File{
		{Path: "a", Mode: 0o640, Data: []byte("one")},
		{Path: "deep/down/b", Data: []byte("two")},
		{Path: "empty", Data: []byte{}},
	}
	if err := b.Put(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), sandbox.File{Path: "a", Mode: 0o640, Data: []byte("three")}); err != nil {
		t.Errorf("a file cannot be replaced: %v", err)
	}
	got, err := b.Collect(t.Context(), []string{"**"}, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := "[a -rw-r----- three][deep/down/b -rw-r--r-- two][empty -rw-r--r-- ]"
	var s strings.Builder
	for _, f := range got {
		fmt.Fprintf(&s, "[%s %s %s]", f.Path, f.Mode, f.Data)
	}
	if s.String() != want {
		t.Errorf("collected %s, want %s", s.String(), want)
	}
	if err := b.Put(t.Context(), sandbox.File{Path: "a/b"}); err == nil {
		t.Error("a file became a folder")
	}
}

func TestWhatIsCollectedPackedIsPutIntoAnotherBoxAsItIs(t *testing.T) {
	one := keep(t, sandbox.Config{}, false)
	for name, openBox := range map[string]func() (*sandbox.Box, error){
		"by an agent": func() (*sandbox.Box, error) {
			return shared.get(t).OpenBox(t.Context(), sandbox.BoxOptions{Writable: true})
		},
		"without an agent": func() (*sandbox.Box, error) { return one.OpenBox(t.Context(), sandbox.BoxOptions{Writable: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			var boxes [2]*sandbox.Box
			for i := range boxes {
				b, err := openBox()
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				boxes[i] = b
			}
			made := []sandbox.File{{Path: "deep/down/note", Mode: 0o640, Data: []byte("two")}, {Path: "main", Mode: 0o755, Data: []byte("#!/bin/sh\necho ready\n")}}
			if err := boxes[0].Put(t.Context(), made...); err != nil {
				t.Fatal(err)
			}
			files, packed, err := boxes[0].CollectPacked(t.Context(), []string{"**"}, 100)
			if err != nil || !reflect.DeepEqual(files, made) {
				t.Fatalf("collected %v, %v, want %v", files, err, made)
			}
			if err := boxes[0].Put(t.Context(), sandbox.File{Path: "main", Data: []byte("another")}); err != nil {
				t.Fatal(err)
			}
			if err := boxes[1].PutPacked(t.Context(), packed); err != nil {
				t.Fatal(err)
			}
			if again, err := boxes[1].Collect(t.Context(), []string{"**"}, 100); err != nil || !reflect.DeepEqual(again, made) {
				t.Errorf("in the other box are %v, %v, want %v", again, err, made)
			}
			if _, _, err := boxes[0].CollectPacked(t.Context(), []string{"**"}, 5); err == nil {
				t.Error("more bytes were collected than are allowed")
			}
		})
	}
}

func TestGlobsSayWhatIsCollected(t *testing.T) {
	a := shared.get(t)
	b := open(t, a, sandbox.BoxOptions{})
	var files []sandbox.File
	for _, p := range []string{"Main.class", "Main$1.class", "Main.java", "out/A.class", "out/deep/B.class"} {
		files = append(files, sandbox.File{Path: p, Data: []byte(p)})
	}
	if err := b.Put(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"*.class":            "Main$1.class Main.class",
		"**/*.class":         "Main$1.class Main.class out/A.class out/deep/B.class",
		"out/*":              "out/A.class",
		"out/**":             "out/A.class out/deep/B.class",
		"Main.????":          "Main.java",
		"nothing":            "",
		"./Main.java":        "Main.java",
		"**/deep/**/*.class": "out/deep/B.class",
	}
	for glob, want := range tests {
		got, err := b.Collect(t.Context(), []string{glob}, 1000)
		if err != nil {
			t.Errorf("Collect(%s): %v", glob, err)
			continue
		}
		var names []string
		for _, f := range got {
			names = append(names, f.Path)
		}
		if s := strings.Join(names, " "); s != want {
			t.Errorf("Collect(%s) = %q, want %q", glob, s, want)
		}
	}
	for _, glob := range []string{"../*", "/etc/*", "[", "a//b", ""} {
		if _, err := b.Collect(t.Context(), []string{glob}, 1000); err == nil {
			t.Errorf("Collect(%q) worked", glob)
		}
	}
	if _, err := b.Collect(t.Context(), []string{"**"}, 5); err == nil {
		t.Error("more bytes than allowed were collected")
	}
}

func TestOnlyAWritableBoxCanBeWritten(t *testing.T) {
	a := shared.get(t)
	script := `
import os
for path in ["new", "given"]:
    try: open(path, "a").write("x"); print(path, "written")
    except OSError as e: print(path, e.strerror)
`
	for writable, want := range map[bool]string{
		false: "new Permission denied\ngiven Permission denied\n",
		true:  "new written\ngiven written\n",
	} {
		b := open(t, a, sandbox.BoxOptions{Writable: writable})
		if err := b.Put(t.Context(), sandbox.File{Path: "given", Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		if o := run(t, b, sandbox.Cmd{Tool: "python3", Args: []string{"-c", script}}); o.stdout != want {
			t.Errorf("with Writable %t it printed %v", writable, o)
		}
	}
}

func TestTheEnvironmentIsCleanAndWhatWasAskedFor(t *testing.T) {
	t.Setenv("DEEPOJ_SECRET", "of the host")
	a := shared.get(t)
	b := open(t, a, sandbox.BoxOptions{})
	o := run(t, b, sandbox.Cmd{Program: "/usr/bin/env", Env: []string{"A=1", "LANG=C", "A=2"}})
	if want := "PATH=/usr/bin:/bin\nHOME=/tmp\nLANG=C\nA=2\n"; o.stdout != want {
		t.Errorf("the environment was %q, want %q", o.stdout, want)
	}
	o = run(t, b, sandbox.Cmd{Program: "/usr/bin/id"})
	if !strings.Contains(o.stdout, "(box)") || strings.Contains(o.stdout, "groups=0") {
		t.Errorf("the user is %v", o)
	}
	o = run(t, b, sandbox.Cmd{Program: "/usr/bin/hostname"})
	if o.stdout != "box\n" {
		t.Errorf("the host name is %v", o)
	}
}

func TestAPrivateTmpHasTheSizeThatWasAskedFor(t *testing.T) {
	a := shared.get(t)
	b := open(t, a, sandbox.BoxOptions{TmpBytes: 4 << 20})
	script := `
try:
    open("/tmp/x", "wb").write(b"x" * (5 << 20)); print("written")
except OSError as e: print(e.strerror)
`
	for range 2 { // also after /tmp was emptied
		if o := run(t, b, sandbox.Cmd{Tool: "python3", Args: []string{"-c", script}}); o.stdout != "No space left on device\n" {
			t.Errorf("ended %v", o)
		}
	}
	for _, size := range []int64{-1, 1 << 60} {
		if _, err := a.OpenBox(t.Context(), sandbox.BoxOptions{TmpBytes: size}); err == nil {
			t.Errorf("a box with %d bytes was opened", size)
		}
	}
}

func TestOutputsOfBoxesThatRunAtOnceDoNotMix(t *testing.T) {
	a := shared.get(t)
	var all sync.WaitGroup
	for i := range 3 {
		b := open(t, a, sandbox.BoxOptions{})
		all.Go(func() {
			word := strings.Repeat(fmt.Sprint(i), 1000)
			for range 20 {
				out := memory(nil)
				r, err := b.Run(t.Context(), sandbox.Cmd{
					Tool: "python3", Args: []string{"-c", "import sys\nfor i in range(200): sys.stdout.write('" + word + "')"}, Stdout: out, StdoutLimit: -1,
				})
				if err != nil || r.Verdict != sandbox.OK || text(out) != strings.Repeat(word, 200) {
					t.Errorf("box %d: %+v, %v, %d bytes", i, r, err, len(text(out)))
				}
				out.Close()
			}
		})
	}
	all.Wait()
}
