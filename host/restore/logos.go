package restore

import (
	"path"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/logo"
	"deepoj/sql/rounds"
)

// maxLogoBytes bounds the logos of a package together.
const maxLogoBytes = 64 << 20

// folderOf is where a package has the files of an organization.
func folderOf(id string) string { return "organizations/" + id + "/" }

// logosOf are the logos that a package of another system has of an organization, by the id that it has there: those that it names,
// and those that are called as logos are.
func (r *reading) logosOf(code, id string, named []fileObject) []judge.Logo {
	folder := folderOf(id)
	var names []string
	for _, f := range named {
		names = append(names, folder+f.Filename)
	}
	inside, _ := r.inFolder(folder)
	for _, name := range inside {
		if base := path.Base(name); strings.HasPrefix(base, "logo.") {
			names = append(names, name)
		}
	}
	var out []judge.Logo
	seen := map[string]bool{}
	for _, name := range names {
		data, there := r.files[name]
		if !there || seen[name] {
			continue
		}
		seen[name] = true
		if r.logoBytes += len(data); r.logoBytes > maxLogoBytes {
			if !r.logosRefused {
				r.wrong("organizations.json", id, "the logos have more than %d MiB together; have them smaller, or leave them out", maxLogoBytes>>20)
			}
			r.logosRefused = true
			return nil
		}
		l, err := logo.Read(data)
		switch {
		case err != nil:
			r.note("The logo %s is left out: %v.", name, err)
			continue
		case len(out) == rounds.MaxLogos:
			r.note("The logo %s is left out: an organization has at most %d.", name, rounds.MaxLogos)
			continue
		case slices.ContainsFunc(out, func(o judge.Logo) bool { return o.Name == l.Name }):
			continue // for another ground
		}
		out = append(out, l)
		r.logos[code+"/"+l.Name] = data
	}
	slices.SortFunc(out, func(a, b judge.Logo) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// pastLogos fills in the logos that the log tells of, of an organization.
func (r *reading) pastLogos(code string, told []judge.Logo) {
	if len(told) > rounds.MaxLogos {
		r.wrong("organizations.json", code, "an organization has at most %d logos", rounds.MaxLogos)
		return
	}
	for _, l := range told {
		data, there := r.logos[code+"/"+l.Name]
		if !there {
			data = r.files[folderOf(code)+l.Name]
		}
		is, err := logo.Read(data)
		switch {
		case data == nil:
			r.wrong("organizations.json", code, "%s is missing", folderOf(code)+l.Name)
		case err != nil:
			r.wrong("organizations.json", code, "%s: %v", folderOf(code)+l.Name, err)
		case is != l:
			r.wrong("organizations.json", code, "%s is another picture than the log says", folderOf(code)+l.Name)
		default:
			r.out.Past.Logos = append(r.out.Past.Logos, rounds.PastLogo{Logo: l, Organization: code, Data: data})
		}
	}
}
