package judging_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
)

// talkers are interactors of one behaviour: they tell the program which part it has,
// which is the first line of the input, and do what the other lines say:
//
//	hear      read a line, if there is one
//	drain     read to the end
//	wait      take half a second or so
//	say N     write N lines, each by itself
//	accept, reject, fail
//
// Whoever writes to a program that is gone dies of it where a platform lets that
// happen: by the signal, or by an exception that nobody catches.
var talkers = map[string]struct{ file, protocol, source string }{
	"C++ that knows exceptions": {"i.cpp", "icpc/1", `#include <csignal>
#include <stdexcept>
` + strings.ReplaceAll(talkerInCPP, "START", `std::signal(SIGPIPE, SIG_IGN); std::cout.exceptions(std::ios::badbit | std::ios::failbit);`)},
	"C++ that dies of the signal":  {"i.cpp", "icpc/1", "#include <stdexcept>\n" + strings.ReplaceAll(talkerInCPP, "START", "")},
	"C++ in the manner of testlib": {"i.cpp", "testlib/1", "#include <stdexcept>\n" + strings.NewReplacer("START", "", "return 42", "return 0", "return 43", "return 1", "return 9", "return 3").Replace(talkerInCPP)},
	"Python":                       {"i.py", "icpc/1", talkerInPython},
	"C as a plugin":                {"i.c", "icpc/1", talkerInC},
}

// A plugin catches nothing, so this runs as a program.
const talkerInCPP = `#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
int main(int, char **argv)
{
	START
	std::ifstream script(argv[1]);
	std::string word, line;
	script >> word;
	std::cout << word << std::endl;
	while (script >> word) {
		if (word == "hear") {
			std::getline(std::cin, line);
		} else if (word == "drain") {
			while (std::getline(std::cin, line)) {}
		} else if (word == "wait") {
			auto from = std::chrono::steady_clock::now();
			while (std::chrono::steady_clock::now() - from < std::chrono::milliseconds(450)) {}
		} else if (word == "say") {
			script >> word;
			try {
				for (int n = std::stoi(word); n > 0; n--)
					std::cout << "these are the words of the interactor, of which a pipe holds no more than some" << std::endl;
			} catch (const std::invalid_argument &) {
				return 7;
			}
		} else if (word == "accept") {
			return 42;
		} else if (word == "reject") {
			return 43;
		} else {
			return 9;
		}
	}
	return 7;
}
`

const talkerInPython = `import sys, time
script = open(sys.argv[1]).read().split()
print(script.pop(0), flush=True)
while script:
    word = script.pop(0)
    if word == "hear":
        sys.stdin.readline()
    elif word == "drain":
        sys.stdin.read()
    elif word == "wait":
        time.sleep(0.45)
    elif word == "say":
        for _ in range(int(script.pop(0))):
            print("these are the words of the interactor, of which a pipe holds no more than some", flush=True)
    else:
        sys.exit({"accept": 42, "reject": 43}.get(word, 9))
`

const talkerInC = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	static char word[100], line[1 << 16];
	FILE *script = fopen(argv[1], "r");
	fscanf(script, "%99s", word);
	puts(word);
	fflush(stdout);
	while (fscanf(script, "%99s", word) == 1) {
		if (!strcmp(word, "hear")) {
			fgets(line, sizeof line, stdin);
		} else if (!strcmp(word, "drain")) {
			while (fgets(line, sizeof line, stdin)) {}
		} else if (!strcmp(word, "wait")) {
			for (volatile long i = 0; i < 400000000; i++) {}
		} else if (!strcmp(word, "say")) {
			fscanf(script, "%99s", word);
			for (int n = atoi(word); n > 0; n--) {
				puts("these are the words of the interactor, of which a pipe holds no more than some");
				fflush(stdout);
			}
		} else if (!strcmp(word, "accept")) {
			return 42;
		} else if (!strcmp(word, "reject")) {
			return 43;
		} else {
			return 9;
		}
	}
	return 7;
}
`

// parts are what the program does when it has heard its part.
const parts = `import os, sys, time
def die(n):
    sys.stdout.flush()
    os._exit(n)
def close(fd):
    os.close(fd)
def words(n):
    for _ in range(n):
        print("words of the program", flush=True)
part = input()
if part == "ends": pass
elif part == "fails": die(3)
elif part == "crashes": os.kill(os.getpid(), 11)
elif part == "spins":
    while True: pass
elif part == "starves": bytearray(1 << 40)
elif part == "speaks-and-ends": print("word", flush=True)
elif part == "speaks-and-fails": print("word", flush=True); die(3)
elif part == "speaks-and-spins":
    print("word", flush=True)
    while True: pass
elif part == "listens": sys.stdin.read()
elif part == "listens-and-fails": sys.stdin.read(); die(3)
elif part == "writes-on": time.sleep(0.3); words(10000)
elif part == "writes-on-and-fails": time.sleep(0.3); words(10000); die(3)
elif part == "writes-without-end":
    while True: os.write(1, b"words of the program\n" * 1000) # many at once: the limit of output, not the clock's
elif part == "is-deaf": close(0); time.sleep(0.3); print("word", flush=True)
elif part == "is-mute": close(1); sys.stdin.read(); os._exit(0)
elif part == "is-mute-and-fails-late": close(1); time.sleep(1.2); os._exit(3)
`

// meeting is what program and interactor do, and what comes of it.
type meeting struct {
	part, script string
	want         judge.Verdict
}

// close says that both end soon after each other, though neither waits for the other. An interactor that waits does so
// for a while, in which a machine that does a lot besides may not have started the program.
func (m meeting) close() bool {
	return strings.Contains(m.script, "wait") || m.part == "speaks-and-fails" && m.script == "hear reject" || m.part == "is-mute-and-fails-late"
}

// Whose end comes first, and what each of both does then. The expected verdicts are
// those of the reference tools of the ICPC formats: an interactor that fails is a
// judging error; one that has rejected before the program's end decides; else the
// program's own failure does; else the interactor does. "Many" words are more than a
// pipe holds.
var meetings = []meeting{
	// The program ends first, and well.
	{"ends", "wait say 3 wait say 3 accept", judge.AC},
	{"ends", "wait say 3 wait say 3 reject", judge.WA},
	{"ends", "drain say 3 wait say 3 accept", judge.AC},
	{"ends", "drain reject", judge.WA},
	{"ends", "say 20000 accept", judge.AC},
	{"ends", "wait say 20000 reject", judge.WA},
	{"ends", "drain say 3 fail", judge.JE},

	// The program ends first, and badly.
	{"fails", "wait say 3 wait say 3 accept", judge.RE},
	{"fails", "wait say 3 wait say 3 reject", judge.RE},
	{"fails", "drain say 3 wait say 3 accept", judge.RE},
	{"fails", "drain reject", judge.RE},
	{"fails", "hear reject", judge.RE},
	{"fails", "say 20000 accept", judge.RE},
	{"fails", "wait say 20000 reject", judge.RE},
	{"fails", "drain fail", judge.JE},
	{"crashes", "wait say 3 wait say 3 accept", judge.RE},
	{"crashes", "drain reject", judge.RE},
	{"spins", "drain say 3 wait say 3 accept", judge.TLE},
	{"spins", "drain reject", judge.TLE},
	{"spins", "say 20000 reject", judge.TLE},
	{"starves", "drain reject", judge.MLE},

	// The interactor ends first.
	{"spins", "accept", judge.TLE},
	{"spins", "reject", judge.WA},
	{"listens", "accept", judge.AC},
	{"listens", "reject", judge.WA},
	{"listens-and-fails", "accept", judge.RE},
	{"listens-and-fails", "reject", judge.WA},
	{"listens-and-fails", "fail", judge.JE},
	{"writes-on", "accept", judge.AC},
	{"writes-on", "reject", judge.WA},
	{"writes-on-and-fails", "accept", judge.RE},
	{"writes-on-and-fails", "reject", judge.WA},
	{"writes-without-end", "accept", judge.OLE},
	{"writes-without-end", "reject", judge.WA},
	{"speaks-and-spins", "hear reject", judge.WA},
	{"speaks-and-spins", "hear accept", judge.TLE},

	// Both at once: the program's last words are what the interactor rejects.
	{"speaks-and-ends", "hear accept", judge.AC},
	{"speaks-and-ends", "hear reject", judge.WA},
	{"speaks-and-fails", "hear accept", judge.RE},
	{"speaks-and-fails", "hear reject", judge.WA},
	{"speaks-and-fails", "hear wait reject", judge.RE},
	{"speaks-and-fails", "hear drain reject", judge.RE},

	// Each waits for the other: the clock is the program's.
	{"listens", "hear accept", judge.TLE},
	{"listens", "drain reject", judge.TLE},

	// One of the program's ends is closed.
	{"is-deaf", "say 20000 hear accept", judge.AC},
	{"is-mute", "drain say 3 accept", judge.AC},
	{"is-mute-and-fails-late", "drain reject", judge.WA},
	{"is-mute-and-fails-late", "drain accept", judge.RE},
}

func TestWhoEndsFirstDecides(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	for name, talker := range talkers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(some []meeting) (wrong []meeting, how []string) {
				r := judged(t, j, python(parts), meet(t, talker.file, talker.protocol, talker.source, some))
				if len(r.Tests) != len(some) {
					t.Fatalf("%s: %s %s", told(r), r.Message, r.JudgeNote)
				}
				for i, m := range some {
					if got := r.Tests[i]; got.Verdict != m.want {
						wrong = append(wrong, m)
						how = append(how, fmt.Sprintf("a program that %s, and an interactor that does %q: %s, want %s; %q %q", m.part, m.script, got.Verdict, m.want, got.Message, got.JudgeNote))
					}
				}
				return wrong, how
			}
			var all []meeting
			for _, m := range meetings {
				if talker.file == "i.cpp" && talker.protocol == "icpc/1" && !strings.Contains(m.script, "say") {
					continue // where it does not write, it ends as the one in the manner of testlib does
				}
				if m.want != judge.JE {
					all = append(all, m)
				} else if _, how := check([]meeting{m}); how != nil { // it ends the judging
					t.Error(how)
				}
			}
			// Where ends are close, a machine that does a lot besides may see them apart.
			wrong, how := check(all)
			for try := 0; try < 3 && len(wrong) > 0 && !slices.ContainsFunc(wrong, func(m meeting) bool { return !m.close() }); try++ {
				wrong, how = check(wrong)
			}
			for _, h := range how {
				t.Error(h)
			}
		})
	}
}

// meet is an interactive problem with a test for each meeting.
func meet(t *testing.T, file, protocol, source string, meetings []meeting) *problem.Package {
	t.Helper()
	files := map[string]string{
		"problem.yaml": "name: Meeting\nvalidation: custom interactive\nlimits: {memory: 256, output: 4, validation_time: 60}\n", ".timelimit": "0.4",
		"data/testdata.yaml": "on_reject: continue\n", "data/secret/testdata.yaml": "on_reject: continue\n",
		"output_validators/" + file: source,
		"data/sample/1.in":          "", "data/sample/1.ans": "", "data/secret/1.in": "", "data/secret/1.ans": "",
	}
	if protocol != "icpc/1" {
		delete(files, "output_validators/"+file)
		files["problem.yaml"] = strings.Replace(files["problem.yaml"], "validation: custom interactive\n", "", 1)
		files[file], files["deepoj.yaml"] = source, fmt.Sprintf("interactor: {file: %s, protocol: %s}\n", file, protocol)
	}
	for i, m := range meetings {
		name := fmt.Sprintf("data/secret/m%02d", i)
		files[name+".in"], files[name+".ans"] = fmt.Sprintf("%s\n%s\n", m.part, m.script), "\n"
	}
	return echo(t, files)
}
