package kotlin

import (
	"errors"
	"strings"
	"testing"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const start = "fun main() { }\n"

func TestTheFileWithAMainFunctionIsStarted(t *testing.T) {
	t.Parallel()
	static := "@JvmStatic fun main(args: Array<String>) { }"
	tests := map[string]struct {
		files []string // names and texts
		class string   // "" for a refusal
	}{
		"one file is called main":                        {[]string{"sum.kt", start}, "MainKt"},
		"several keep their names":                       {[]string{"a.kt", "val a = 1", "sum.kt", start}, "SumKt"},
		"main wins over an earlier one":                  {[]string{"a.kt", start, "main.kt", start}, "MainKt"},
		"a folder is no part of the name":                {[]string{"lib/sum.kt", start, "b.kt", ""}, "SumKt"},
		"a package is":                                   {[]string{"a.kt", "package a.b . c\nimport x.y\n" + start}, "a.b.c.MainKt"},
		"a package may be in backquotes":                 {[]string{"a.kt", "package `in`.b;" + start}, "in.b.MainKt"},
		"what is no letter becomes an underscore":        {[]string{"my-sum.2.kt", start, "b.kt", ""}, "My_sum_2Kt"},
		"a digit gets one before it":                     {[]string{"2sum.kt", start, "b.kt", ""}, "_2sumKt"},
		"an annotation may name the class":               {[]string{"a.kt", "@file:JvmName(\"Sum\")\n" + start}, "Sum"},
		"the arguments may be there":                     {[]string{"a.kt", "fun main(args: Array<String>) = run()"}, "MainKt"},
		"the arguments may be of any number":             {[]string{"a.kt", "fun main(vararg args: String) {}"}, "MainKt"},
		"main may suspend":                               {[]string{"a.kt", "suspend fun main() {}"}, "MainKt"},
		"a function of a number is no main":              {[]string{"a.kt", "fun main(n: Int) {}"}, ""},
		"a private function is no main":                  {[]string{"a.kt", "private fun main() {}"}, ""},
		"a private value before it is another matter":    {[]string{"a.kt", "private val a = 1\n" + start}, "MainKt"},
		"a function in a class is no main":               {[]string{"a.kt", "class A { fun main() { } }"}, ""},
		"a function in a function is no main":            {[]string{"a.kt", "fun f() { fun main() { } }"}, ""},
		"a main in a comment is none":                    {[]string{"a.kt", "// fun main() {}\n/* /* */ fun main() {} */"}, ""},
		"a main in a string is none":                     {[]string{"a.kt", "val a = \"\\\" fun main() {}\"\nval b = \"\"\"\n\"fun main() {}\"\"\"\""}, ""},
		"code in a string is passed over":                {[]string{"a.kt", "val a = \"${if (b) \"}\" else \"{ ${c} fun main() {}\"}\"\n"}, ""},
		"and what follows it is not":                     {[]string{"a.kt", "val a = \"\"\"${f(\"\"\"}\"\"\")} \" \"\"\"\n" + start}, "MainKt"},
		"a dollar sign is no code":                       {[]string{"a.kt", "val a = \"$ $b {\"\n" + start}, "MainKt"},
		"characters may be brackets":                     {[]string{"a.kt", "val a = '{'\nval b = '\\''\nval c = '\"'\nval d = '\\u007b'\n" + start}, "MainKt"},
		"a name in backquotes may be anything":           {[]string{"a.kt", "fun `a { b`() {}\n" + start}, "MainKt"},
		"an object may hold a static main":               {[]string{"a.kt", "package p\nobject A { " + static + " }"}, "p.A"},
		"so may a companion":                             {[]string{"a.kt", "class A(val b: Int) { companion object { @JvmStatic\n" + static[len("@JvmStatic "):] + " } }"}, "A"},
		"a nested object may not":                        {[]string{"a.kt", "class A { object B { " + static + " } }"}, ""},
		"nor may one without the annotation":             {[]string{"a.kt", "object A { @JvmStatic val b = 1; fun main(args: Array<String>) {} }"}, ""},
		"a function wins over an object":                 {[]string{"a.kt", "object A { " + static + " }", "b.kt", start}, "BKt"},
		"a class literal is no class":                    {[]string{"a.kt", "val a = B::class\nobject C { " + static + " }"}, "C"},
		"a missing bracket is left to the compiler":      {[]string{"a.kt", "fun f() {\n" + start}, "MainKt"},
		"so is one too many":                             {[]string{"a.kt", "fun f() }\n{" + start}, "MainKt"},
		"and a string without an end":                    {[]string{"a.kt", "val a = \"b\nclass C { }"}, "MainKt"},
		"and a comment without an end, in any main file": {[]string{"a.kt", "", "main.kt", "/*"}, "MainKt"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sources []abi.Source
			for i := 0; i < len(tt.files); i += 2 {
				sources = append(sources, abi.Source{Name: tt.files[i], Text: tt.files[i+1]})
			}
			p, err := plan(abi.PlanRequest{Sources: sources})
			if tt.class == "" {
				refusal, ok := errors.AsType[*sdk.SourceError](err)
				if !ok || !strings.Contains(refusal.Message, "main") {
					t.Errorf("error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if class := p.Run.Args[len(p.Run.Args)-1]; class != tt.class {
				t.Errorf("the class is %q, want %q", class, tt.class)
			}
		})
	}
}

// Whatever is submitted, reading it ends and gives words.
func FuzzParse(f *testing.F) {
	f.Add("package a; " + start)
	f.Add("val a = \"${\"${'")
	f.Add("/*/*")
	f.Add("'\\")
	f.Add("`")
	f.Fuzz(func(t *testing.T, text string) {
		u := parse(text)
		if u.holder != "" && !isWord(u.holder) {
			t.Errorf("parse(%q) finds the class %q", text, u.holder)
		}
	})
}

// Reading these by the square of their length would take minutes.
func TestLongSourcesAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"fun main(", "'\\", "\"${", "/*", "fun \"", "package a.", "'", "@file:JvmName(\"", "fun main(/*"} {
		if u := parse("object A {" + strings.Repeat(part, 1<<18/len(part))); u.complete {
			t.Errorf("%q many times: the bracket is closed", part)
		}
	}
}
