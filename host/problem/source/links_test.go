package source_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
)

// linked is the small package with links.
func linked(links map[string]string) fstest.MapFS {
	fsys := problemtest.Pack(nil)
	for name, target := range links {
		fsys[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
	}
	return fsys
}

func TestADanglingLinkIsAFaultOnlyWhereItsFileWouldBeRead(t *testing.T) {
	t.Parallel()
	_, report, err := importing.Read(linked(map[string]string{
		"problem.pdf": "build/out.pdf", "generators/gen.h": "lib/gen.h", "data/secret/1.png": "none.png", "problem_statement/cat.png": "none.png",
		"attachments/a.zip": "none.zip", "submissions/accepted/b.py.disabled": "none.py", "output_validators/README.md": "none",
	}))
	if err != nil {
		t.Fatal(err)
	}
	var warned string
	for _, w := range report.Warnings {
		if strings.Contains(w.Reason, "leads nowhere; nothing reads it") {
			warned += fmt.Sprintf("%s %d", w.File, w.Count)
		}
	}
	if warned != "attachments/a.zip 7" {
		t.Errorf("warnings are %v", report.Warnings)
	}
	for _, name := range []string{
		"data/secret/2.ans", "data/secret/group", "submissions/accepted/b.py", "input_validators/v.h", "output_validators/v.h", "include/cpp/x.h", "problem_statement/problem.sv.md",
		"graders/g.py", "deepoj.yaml", ".timelimit",
	} {
		fsys := linked(map[string]string{name: "none"})
		if _, _, err := importing.Read(fsys); err == nil || !strings.Contains(err.Error(), name+": "+leadsNowhere) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALinkThatLeavesIsRefusedWithEverythingElse(t *testing.T) {
	t.Parallel()
	fsys := linked(map[string]string{"input_validators/x.h": "../../x.h", "generators/gen.h": "/usr/share/gen.h", "data/secret/3.ans": "../../../3.ans"})
	fsys["data/secret/3.in"] = &fstest.MapFile{Data: []byte("x")}
	fsys["problem.yaml"] = &fstest.MapFile{Data: []byte("name: a\ntype: quiz\n")}
	_, _, err := importing.Read(fsys)
	all := problem.Findings(err)
	if len(all) != 2 || all[0].File != "data/secret/3.ans" || all[0].Count != 3 || !strings.Contains(all[0].Reason, "zip -r") || all[1].Key != "type" {
		t.Errorf("the faults are %v", err)
	}
}
