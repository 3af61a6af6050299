package locale_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// goKeys finds the sentences of Go code: constants of type locale.Word, and what host/ and sql/ say of wrong fields by
// judge.Wrong.
type goKeys struct {
	*findings
	fset *token.FileSet
	word types.Type // locale.Word

	// takers are functions that take a sentence as a plain string, by their names, with the number of that parameter.
	takers map[string]int
}

func findInGo(t *testing.T, to *findings) {
	t.Helper()
	mode := packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: root, Fset: token.NewFileSet()}, "./web/...", "./host/judge", "./host/people", "./host/roster", "./host/draft", "./host/lineup", "./host/contest", "./sql", "./sql/rounds")
	if err != nil {
		t.Fatal(err)
	}
	g := &goKeys{findings: to, takers: map[string]int{"deepoj/host/judge.Wrong": 2}}
	for _, pkg := range loaded {
		for _, err := range pkg.Errors {
			t.Fatal(err)
		}
		if pkg.PkgPath == "deepoj/web/locale" {
			g.word = pkg.Types.Scope().Lookup("Word").Type()
		}
		g.fset = pkg.Fset
		for _, file := range pkg.GoFiles { // the cache of tests knows what this process reads
			if _, err := os.ReadDir(filepath.Dir(file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for more := -1; more != len(g.takers); { // who hands its own parameter on is one, too
		more = len(g.takers)
		for _, pkg := range loaded {
			g.calls(pkg, func(in *ast.FuncDecl, call *ast.CallExpr, at int) {
				if i := parameter(pkg.TypesInfo, in, call.Args[at]); i >= 0 {
					g.takers[nameOf(pkg.TypesInfo.Defs[in.Name])] = i
				}
			})
		}
	}
	for _, pkg := range loaded {
		g.read(pkg)
	}
}

// calls calls back for each call of a taker.
func (g *goKeys) calls(pkg *packages.Package, found func(in *ast.FuncDecl, call *ast.CallExpr, at int)) {
	for _, file := range pkg.Syntax {
		for _, decl := range file.Decls {
			in, _ := decl.(*ast.FuncDecl)
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if at, ok := g.takers[nameOf(callee(pkg.TypesInfo, call))]; ok && at < len(call.Args) {
					found(in, call, at)
				}
				return true
			})
		}
	}
}

func (g *goKeys) read(pkg *packages.Package) {
	info := pkg.TypesInfo
	g.calls(pkg, func(in *ast.FuncDecl, call *ast.CallExpr, at int) {
		switch value := info.Types[call.Args[at]].Value; {
		case value != nil:
			args := len(call.Args) - at - 1
			if call.Ellipsis.IsValid() {
				args = -1
			}
			g.add(constant.StringVal(value), g.place(call.Args[at]), args)
		case parameter(info, in, call.Args[at]) < 0:
			g.fault(g.place(call), "%s takes a sentence that is not constant", nameOf(callee(info, call)))
		}
	})
	filled := map[ast.Expr]int{} // with how many arguments a constant is given to a function
	for _, file := range pkg.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				g.call(pkg, n, filled)
			case *ast.CompositeLit:
				if named(info.TypeOf(n)) == "deepoj/host/judge.FieldError" && g.place(n).file != "host/judge/reject.go" {
					g.fault(g.place(n), "a field error is made without judge.Wrong")
				}
				if named(info.TypeOf(n)) == "deepoj/web/site.Fault" && len(n.Elts) > 0 && g.place(n).file != "web/site/fault.go" {
					g.fault(g.place(n), "a refusal is made without site.Refuse")
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					g.assigned(info, to)
				}
			}
			e, ok := n.(ast.Expr)
			if !ok || info.Types[e].Value == nil || g.word == nil || !types.Identical(info.Types[e].Type, g.word) {
				return true
			}
			args, known := filled[e]
			if !known {
				args = -1
			}
			g.add(constant.StringVal(info.Types[e].Value), g.place(e), args)
			return false
		})
	}
}

// call looks at conversions to a sentence, and counts what fills a constant one.
func (g *goKeys) call(pkg *packages.Package, call *ast.CallExpr, filled map[ast.Expr]int) {
	info := pkg.TypesInfo
	if tv := info.Types[call.Fun]; tv.IsType() {
		if types.Identical(tv.Type, g.word) && info.Types[call.Args[0]].Value == nil && pkg.PkgPath != "deepoj/web/locale" {
			g.fault(g.place(call), "a sentence is made of a text that is not constant")
		}
		return
	}
	if nameOf(callee(info, call)) == "deepoj/web/locale.Kept" && g.place(call).file != "web/site/fault.go" {
		g.fault(g.place(call), "locale.Kept is for what package judge made")
	}
	sig, ok := info.TypeOf(call.Fun).(*types.Signature)
	if !ok || !sig.Variadic() || call.Ellipsis.IsValid() || sig.Params().At(sig.Params().Len()-1).Type().String() != "[]any" {
		return
	}
	for i := range sig.Params().Len() - 1 {
		if types.Identical(sig.Params().At(i).Type(), g.word) { // the first is what the arguments fill
			filled[call.Args[i]] = len(call.Args) - sig.Params().Len() + 1
			return
		}
	}
}

// assigned looks at what is assigned to: the texts of a refusal are made of sentences.
func (g *goKeys) assigned(info *types.Info, to ast.Expr) {
	field, ok := to.(*ast.SelectorExpr)
	if !ok || g.place(to).file == "web/site/fault.go" {
		return
	}
	owner := info.TypeOf(field.X)
	if p, ok := owner.(*types.Pointer); ok {
		owner = p.Elem()
	}
	if name := field.Sel.Name; named(owner) == "deepoj/web/site.Fault" && (name == "Detail" || name == "Remedy") {
		g.fault(g.place(to), "%s of a refusal is made without Told and Mended", name)
	}
}

func (g *goKeys) place(n ast.Node) place {
	at := g.fset.Position(n.Pos())
	file, err := filepath.Rel(root, at.Filename)
	if err != nil || strings.HasPrefix(file, "..") {
		if abs, absErr := filepath.Abs(root); absErr == nil {
			file, _ = filepath.Rel(abs, at.Filename)
		}
	}
	return place{filepath.ToSlash(file), at.Line}
}

func callee(info *types.Info, call *ast.CallExpr) types.Object {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return info.Uses[fun]
	case *ast.SelectorExpr:
		return info.Uses[fun.Sel]
	}
	return nil
}

// nameOf is the full name of a function.
func nameOf(of types.Object) string {
	if f, ok := of.(*types.Func); ok {
		return f.FullName()
	}
	return ""
}

// named is the full name of a type.
func named(of types.Type) string {
	if n, ok := of.(*types.Named); ok && n.Obj().Pkg() != nil {
		return fmt.Sprintf("%s.%s", n.Obj().Pkg().Path(), n.Obj().Name())
	}
	return ""
}

// parameter returns which parameter of a function an expression is, perhaps converted; -1 = none.
func parameter(info *types.Info, in *ast.FuncDecl, e ast.Expr) int {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 && info.Types[call.Fun].IsType() {
		e = call.Args[0]
	}
	id, ok := e.(*ast.Ident)
	if !ok || in == nil {
		return -1
	}
	sig := info.Defs[in.Name].Type().(*types.Signature)
	for i := range sig.Params().Len() {
		if sig.Params().At(i) == info.Uses[id] {
			return i
		}
	}
	return -1
}
