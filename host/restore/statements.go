package restore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
)

// maxFileBytes bounds the statements and attachments of a package together.
const maxFileBytes = 64 << 20

// fileDigest is the digest of a statement or an attachment.
var fileDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// statementsOf are the statements that a package of another system has of a problem: those that it names, and those that are called
// as statements are.
func (r *reading) statementsOf(slug string, p problemObject) []judge.ProblemFile {
	inside, _ := r.inFolder("problems/" + p.ID + "/")
	for _, name := range inside {
		if base := path.Base(name); strings.HasPrefix(base, "statement.") {
			p.Statement = append(p.Statement, fileObject{base})
		}
	}
	return r.those(slug, p.ID, p.Statement, true)
}

// those are those of some files of a problem that a package of another system has.
func (r *reading) those(slug, id string, files []fileObject, statements bool) (out []judge.ProblemFile) {
	seen := map[string]bool{}
	for _, f := range files {
		name := "problems/" + id + "/" + f.Filename
		if _, there := r.files[name]; !there || seen[name] || clics.OfPackages(name) {
			continue
		}
		seen[name] = true
		if is, ok := r.brought(slug, name, statements); ok {
			out = append(out, is)
		}
	}
	return out
}

// brought takes a statement or an attachment in, unless it is none.
func (r *reading) brought(slug, name string, statement bool) (judge.ProblemFile, bool) {
	data := r.files[name]
	if statement && !bytes.HasPrefix(data, []byte("%PDF-")) {
		r.note("The statement %s is left out: it is no PDF.", name)
		return judge.ProblemFile{}, false
	}
	sum, all := sha256.Sum256(data), len(data)
	for _, s := range r.out.Files {
		all += len(s.Data)
	}
	if all > maxFileBytes {
		r.note("The file %s is left out: statements and attachments have more than %d MiB together.", name, maxFileBytes>>20)
		return judge.ProblemFile{}, false
	}
	f := judge.ProblemFile{Name: path.Base(name), Bytes: int64(len(data)), Digest: "sha256:" + hex.EncodeToString(sum[:]), Statement: statement}
	r.out.Files = append(r.out.Files, File{Problem: slug, Digest: f.Digest, Data: data})
	return f, true
}

// filesOf are the names of the files of a problem that a line of a log tells of.
func filesOf(l Line) []string {
	var d contest.ProblemData
	if json.Unmarshal(l.Data, &d) != nil {
		return nil // which is said of the line
	}
	return clics.FileNames(d)
}

// loggedFiles takes the statements and attachments in that a log tells of. Those that the package does not have, or has otherwise,
// are told of no more: nobody gets a file of this server by saying what it should be.
func (r *reading) loggedFiles(l *Line) error {
	if l.Kind != contest.KindProblem || !bytes.Contains(l.Data, []byte(`"statement"`)) && !bytes.Contains(l.Data, []byte(`"attachments"`)) {
		return nil
	}
	var d contest.ProblemData
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	names, all := clics.FileNames(d), slices.Concat(d.Statement, d.Attachments)
	statements := len(d.Statement)
	d.Statement, d.Attachments = nil, nil
	kept := 0
	for i, f := range all {
		if !r.there(l.Object, f, names[i]) {
			continue
		}
		if kept++; i < statements {
			d.Statement = append(d.Statement, f)
		} else {
			d.Attachments = append(d.Attachments, f)
		}
	}
	if kept == len(all) {
		return nil
	}
	data, err := json.Marshal(d)
	l.Data = data
	return err
}

// there takes a file of a problem in that the log tells of, and reports whether the package has it.
func (r *reading) there(slug string, f judge.ProblemFile, called string) bool {
	if slices.ContainsFunc(r.out.Files, func(s File) bool { return s.Problem == slug && s.Digest == f.Digest }) {
		return true // it was told before
	}
	name := "problems/" + clics.ID(slug) + "/" + called
	if _, there := r.files[name]; !there || clics.OfPackages(name) {
		r.note("The file %s is not in the package.", name)
		return false
	}
	is, ok := r.brought(slug, name, f.Statement)
	if ok && (is.Digest != f.Digest || is.Bytes != f.Bytes) {
		r.out.Files = r.out.Files[:len(r.out.Files)-1]
		r.note("The file %s is another than the log says, and is left out.", name)
		return false
	}
	return ok
}
