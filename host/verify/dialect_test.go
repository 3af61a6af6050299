package verify_test

import (
	"strings"
	"testing"
)

// What follows is an error in newer dialects: a global name that the library of C++17
// has as well, and an exception specification that C++17 does not have any more.
const oldNames = `#include <iostream>
#include <fstream>
#include <iterator>
using namespace std;
int data = 2;
`

const (
	oldGenerator = oldNames + "int number(char **argv) throw(int) { return atoi(argv[1]); }\nint main(int, char **argv) { cout << number(argv) * data / 2 << endl; }\n"
	oldSolution  = oldNames + "int main() { int n; cin >> n; cout << n * data << endl; }\n"
	oldChecker   = oldNames + "int main(int, char **argv) { int a = 0, b = 1; ifstream(argv[2]) >> a; ifstream(argv[3]) >> b; return a != b && data; }\n"
	single       = "#include <iostream>\nint main() { int n; std::cin >> n; volatile float f = 16777216; f = f + 2 * n - 1; std::cout << (int)f - 16777215 << std::endl; }\n"
	bits         = "; one reason may be that Polygon compiles sources of the types cpp.g++11, cpp.g++14 and cpp.g++17 for 32 bits, where float and double are calculated with more digits " +
		"and long has fewer, and here all are compiled for 64: if so, let it use long double and long long, or give it another tag in problem.xml"
	newSolution = "#include <concepts>\n#include <iostream>\nauto twice(std::integral auto n) { return 2 * n; }\nint main() { int n; std::cin >> n; std::cout << twice(n) << std::endl; }\n"
)

func TestProgramsOfPolygonAreCompiledAsTheCPlusPlusThatTheyAreWrittenIn(t *testing.T) {
	t.Parallel()
	files := polygon("", `<tests><test method="generated" cmd="old 21"/></tests>`, `<checker type="testlib"><source path="files/check.cpp" type="cpp.g++11"/></checker>
<solutions><solution tag="main"><source path="solutions/old.cpp" type="cpp.g++14"/></solution>
<solution tag="accepted"><source path="solutions/new.cpp" type="cpp.gcc13-64-winlibs-g++20"/></solution>
<solution tag="accepted"><source path="solutions/single.cpp" type="cpp.g++17"/></solution>
<solution tag="wrong-answer"><source path="solutions/wrong.cpp" type="cpp.g++17"/></solution></solutions>`, map[string]string{
		"files/old.cpp": oldGenerator, "files/check.cpp": oldChecker, "solutions/old.cpp": oldSolution, "solutions/new.cpp": newSolution,
		"solutions/single.cpp": single, "solutions/wrong.cpp": single,
	})
	delete(files, "files/gen.py")
	delete(files, "solutions/all.py")
	files["problem.xml"] = strings.Replace(files["problem.xml"], `"files/gen.py" type="python.3"`, `"files/old.cpp" type="cpp.g++11"`, 1)
	pkg, err := made(t, files)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, pkg, pkg.Tests()[0].Answer); got != "42\n" {
		t.Errorf("the answer is %q", got)
	}
	proved(t, pkg, map[string]string{"solutions/old.cpp": "", "solutions/new.cpp": "", "solutions/wrong.cpp": "", "solutions/single.cpp": "got WA, may get AC" + bits})
}
