package java

import (
	"errors"
	"slices"
	"testing"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const start = "public static void main(String[] args) {}"

func TestTheDeclarationsDecideNamesAndMain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sources []string
		files   []string
		class   string
	}{
		"a public class names its file":       {[]string{"public class Sum { " + start + " }"}, []string{"Sum.java"}, "Sum"},
		"without one the file is Main":        {[]string{"class Sum { " + start + " }"}, []string{"Main.java"}, "Sum"},
		"modifiers may surround public":       {[]string{"@Deprecated final public strictfp class Sum { " + start + " }"}, []string{"Sum.java"}, "Sum"},
		"annotations may hold braces":         {[]string{`@SuppressWarnings({"unchecked", "x"}) public class Sum { ` + start + " }"}, []string{"Sum.java"}, "Sum"},
		"a package is part of the name":       {[]string{"package a.b . c;\npublic class Sum { " + start + " }"}, []string{"Sum.java"}, "a.b.c.Sum"},
		"a class in a comment is none":        {[]string{"// public class No {\n/* public class No2 { */ public class Yes { " + start + " }"}, []string{"Yes.java"}, "Yes"},
		"a class in a string is none":         {[]string{`class A { String s = "public class No { \" "; char c = '"'; ` + start + " }"}, []string{"Main.java"}, "A"},
		"a class in a text block is none":     {[]string{"class A { String s = \"\"\"\n \"public class No {\n\"\"\"; " + start + " }"}, []string{"Main.java"}, "A"},
		"a nested public class names nothing": {[]string{"class A { public static class B { } " + start + " }"}, []string{"Main.java"}, "A"},
		"the main of a nested class is not it": {
			[]string{"class A { static class B { " + start + " } } class C { " + start + " }"},
			[]string{"Main.java"},
			"C",
		},
		"a public class wins over an earlier one": {[]string{"class A { " + start + " } public class B { " + start + " }"}, []string{"B.java"}, "B"},
		"Main wins over an earlier one":           {[]string{"class A { " + start + " } class Main { " + start + " }"}, []string{"Main.java"}, "Main"},
		"varargs and final are a main":            {[]string{"class A { static public void main(final String... a) throws Exception {} }"}, []string{"Main.java"}, "A"},
		"an overload is no main":                  {[]string{"class A { static void main(int n) {} } class B { " + start + " }"}, []string{"Main.java"}, "B"},
		"an instance method is no main":           {[]string{"class A { static int n; void main(String[] a) {} } class B { " + start + " }"}, []string{"Main.java"}, "B"},
		"records, enums and interfaces count":     {[]string{"public record P(int x) { " + start + " }"}, []string{"P.java"}, "P"},
		"each file has its own name": {
			[]string{"public class B { }", "package p; public class A { " + start + " }", "class C { }"},
			[]string{"B.java", "A.java", "s3.java"},
			"p.A",
		},
		"equal public classes are told apart": {
			[]string{"public class A { " + start + " }", "public class A { }", "public class B { }"},
			[]string{"A.java", "s2.java", "B.java"},
			"A",
		},
		"a name that another file needs is left to it": {
			[]string{"class X { }", "public class s1 { " + start + " }", "class Y { }"},
			[]string{"s1_2.java", "s1.java", "s3.java"},
			"s1",
		},
		"letters may be any": {[]string{"public class Größe { " + start + " }"}, []string{"Größe.java"}, "Größe"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sources []abi.Source
			for i, text := range tt.sources {
				sources = append(sources, abi.Source{Name: "s" + string(rune('1'+i)) + ".java", Text: text})
			}
			layout, units := place(sources)
			if !slices.Equal(layout, tt.files) {
				t.Errorf("files are %q, want %q", []string(layout), tt.files)
			}
			if class := mainClass(units); class != tt.class {
				t.Errorf("the main class is %q, want %q", class, tt.class)
			}
		})
	}
}

func TestTheLineOfAClassWithoutMainIsFound(t *testing.T) {
	t.Parallel()
	text := "/*\n\n*/ import java.util.*;\nclass A {\n}\n"
	_, err := plan(abi.PlanRequest{Sources: []abi.Source{{Name: "A.java", Text: text}}})
	refusal, ok := errors.AsType[*sdk.SourceError](err)
	if !ok || refusal.Line != 4 {
		t.Errorf("error is %+v", err)
	}
}

// Whatever is submitted, reading it ends and keeps to the text.
func FuzzParse(f *testing.F) {
	f.Add("package a; public class B { " + start + " }")
	f.Add(`class "`)
	f.Add("/*")
	f.Add("'\\")
	f.Fuzz(func(t *testing.T, text string) {
		u := parse(text)
		for _, d := range u.types {
			if !isWord(d.name) || d.line < 1 || d.line > 1+len(text) {
				t.Errorf("parse(%q) finds %+v", text, d)
			}
		}
	})
}
