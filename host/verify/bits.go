package verify

import (
	"deepoj/host/judge"
	"deepoj/host/problem"
)

// narrow is why a solution in C++ that Polygon accepts may be wrong here.
const narrow = "; one reason may be that Polygon compiles sources of the types cpp.g++11, cpp.g++14 and cpp.g++17 for 32 bits, where float and double are calculated with more digits " +
	"and long has fewer, and here all are compiled for 64: if so, let it use long double and long long, or give it another tag in problem.xml"

// narrower explains the problem of a row where the width of numbers may be its cause.
func narrower(pkg *problem.Package, row judge.ProofRow) string {
	if pkg.Format != problem.FormatPolygon || row.Problem == "" || row.Language != "cpp" || row.Verdict != judge.WA {
		return row.Problem
	}
	return row.Problem + narrow
}
