package restore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"regexp"
	"slices"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
)

// maxStatementBytes bounds the statements of a package together.
const maxStatementBytes = 64 << 20

// statementDigest is the digest of a statement.
var statementDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// statementsOf are the statements that a package of another system has of a problem, by the id that it has there.
func (r *reading) statementsOf(slug, id string) (out []judge.ProblemFile) {
	inside, _ := r.inFolder("problems/" + id + "/")
	for _, name := range inside {
		if clics.OfPackages(name) {
			continue
		}
		if f, is := r.statement(slug, name); is {
			out = append(out, f)
		}
	}
	return out
}

// statement takes a statement in, unless it is none.
func (r *reading) statement(slug, name string) (judge.ProblemFile, bool) {
	data := r.files[name]
	if !bytes.HasPrefix(data, []byte("%PDF-")) {
		r.note("The statement %s is left out: it is no PDF.", name)
		return judge.ProblemFile{}, false
	}
	sum, all := sha256.Sum256(data), len(data)
	for _, s := range r.out.Statements {
		all += len(s.Data)
	}
	if all > maxStatementBytes {
		r.note("The statement %s is left out: the statements have more than %d MiB together.", name, maxStatementBytes>>20)
		return judge.ProblemFile{}, false
	}
	f := judge.ProblemFile{Name: path.Base(name), Bytes: int64(len(data)), Digest: "sha256:" + hex.EncodeToString(sum[:]), Statement: true}
	r.out.Statements = append(r.out.Statements, Statement{Problem: slug, Digest: f.Digest, Data: data})
	return f, true
}

// loggedStatements takes the statements in that a log tells of. Those that the package does not have, or has otherwise, are told of
// no more: nobody gets a file of this server by saying what it should be.
func (r *reading) loggedStatements(l *Line) error {
	if l.Kind != contest.KindProblem || !bytes.Contains(l.Data, []byte(`"statement"`)) {
		return nil
	}
	var d contest.ProblemData
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	all, kept := d.Statement, []judge.ProblemFile{}
	for i, f := range all {
		name := "problems/" + clics.ID(l.Object) + "/" + clics.StatementName(all, i)
		if slices.ContainsFunc(r.out.Statements, func(s Statement) bool { return s.Problem == l.Object && s.Digest == f.Digest }) {
			kept = append(kept, f) // it was told before
			continue
		}
		if r.files[name] == nil {
			r.note("The statement %s is not in the package.", name)
			continue
		}
		is, ok := r.statement(l.Object, name)
		if ok && (is.Digest != f.Digest || is.Bytes != f.Bytes) {
			r.out.Statements = r.out.Statements[:len(r.out.Statements)-1]
			r.note("The statement %s is another than the log says, and is left out.", name)
			ok = false
		}
		if ok {
			kept = append(kept, f)
		}
	}
	if len(kept) == len(all) {
		return nil
	}
	if d.Statement = kept; len(kept) == 0 {
		d.Statement = nil
	}
	data, err := json.Marshal(d)
	l.Data = data
	return err
}
