package judging_test

import (
	"context"
	"fmt"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
)

// A machine that judges is a sandbox agent, a plugin runtime and a blob store; that of
// the tests is used here. The problem is one of the samples: the sum of two numbers.
func ExampleJudge_Judge() {
	ctx := context.Background()
	m, err := judgingtest.Open()
	if err != nil {
		panic(err)
	}
	folder, err := samples.FS("aplusb")
	if err != nil {
		panic(err)
	}
	pkg, _, err := importing.Read(folder)
	if err != nil {
		panic(err)
	}
	pkg.Slug = "aplusb"
	version, err := pkg.Save(ctx, m.Blobs)
	if err != nil {
		panic(err)
	}
	for _, program := range []string{"a, b = map(int, input().split())\nprint(a + b)\n", "print(input().replace(' ', ''))\n"} {
		result, err := m.Judge.Judge(ctx, judge.Payload{
			SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: "aplusb", Language: "python",
			Sources: []judge.Source{{Name: "sum.py", Text: program}},
		}, version, func(judge.Progress) {})
		if err != nil {
			panic(err) // the platform failed: this is no verdict, and may be tried again
		}
		fmt.Println(result.Verdict, result.Verdict.Name())
	}
	// Output:
	// AC Accepted
	// WA Wrong answer
}
