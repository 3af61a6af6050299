// Package site is what the rooms of the site share.
//
// A room is a package of pages and addresses about one subject. It says in a table of [Address] what it answers to;
// package web makes of all tables the router, the rights and the description of the API.
//
// Beside that it holds what every handler may use: who asks and what they may do, what
// is wrong with a request, how a page is made, and the words of pages.
//
//	accounts.go  the account of whoever asks, and the one that an address names
//	address.go   one address: its route, who may use it, what the API's description says of it
//	assets.go    static files, at addresses that carry a digest
//	catalog.go   languages, and which live workers serve them
//	client.go    whose a request is, behind proxies, and by what it is counted
//	config.go    what the server is told when it starts, and how long and how large requests may be
//	counters.go  what is counted, storing a job and the trace id
//	done.go      what a form has done, on the page that follows
//	fault.go     refusals and failures, as people and programs see them
//	fields.go    reading the members of a JSON object one by one
//	filter.go    filters, cursors and numbers of addresses
//	form.go      a form that comes back
//	gates.go     checks of the least right, and security headers
//	handin.go    names of fields, keys and file names of what is handed in
//	kept.go      answers that are kept for a while
//	named.go     names of people beside those of their accounts
//	reading.go   in which language and by which clock somebody reads
//	revalidate.go ETags, and answers that the caller has
//	pages.go      parts of lists, and their cursors
//	rights.go    what somebody may do in a space, and see outside of one
//	rolewords.go roles and scopes, as people read them
//	site.go      what all rooms share
//	space.go     a space, as whoever looks at it sees it
//	streams.go   who may go on to look, and why there is no stream
//	timefield.go times in forms, by a clock that the form names
//	urls.go      where pages are
//	viewer.go    who sent a request
//	views.go     templates, the page around what a room shows, and rows of long lists
//	words.go     sizes, times and counts as people read them
package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
)

// Address is one address of the site: what the router answers to, who may use it,
// and what the description of the API says of it. Pages have no description.
//
// In and Out are examples: they give types and not values. A [fiber.Map] stands for an object with such members, and a
// member whose name begins with "?" may be left out. A test compares them with what really comes and goes.
type Address struct {
	Route string        // METHOD /path, as the router has it
	For   Right         // the least that may use it
	By    fiber.Handler // answers, once whoever asks has been let in
	Gate  fiber.Handler // instead of the check of For, where that is told or found in another way; nil = none

	// Confirm is what is asked for, as a page says it: "delete a space". Only a session whose owner has just proved
	// who they are may do it, and with OrKey also a key: who made that said so. "" = nothing has to be confirmed.
	Confirm locale.Word
	OrKey   bool

	// Asks is what a form does that cannot be undone, as a page says it, with the parameters of the path in it: "delete
	// the space :space". Its sender is asked whether it is meant. "" = nothing is asked.
	Asks locale.Word

	Does   string // in the description; "" = a page, which is not described
	Query  string // names of parameters, separated by spaces
	In     any    // JSON that is sent; nil = nothing has to be
	Media  string // of what is sent or answered, if it is not JSON
	Status int    // 0 = 200
	Also   int    // another status with the same answer, where the request was there before; 0 = none
	Out    any    // JSON that is answered; nil = none is

	// Kept lets the one who asks keep the answer and ask whether it still holds (ETag, 304), though no cache that others
	// use. It is for what seldom changes and tells nothing of a person; everything else is stored nowhere.
	Kept bool

	Upload Upload // the body that is sent, if it may be larger than those of other requests
}

// Upload is a body that may be larger than those of other requests, if a setter sends it.
type Upload int

// The uploads; zero is none.
const (
	PluginUpload  Upload = iota + 1 // is read before its handler begins, up to [MaxUpload]
	PackageUpload                   // is streamed by its handler, for up to [PackageTime]
)

// Parts of examples that come often.
var (
	Stored = fiber.Map{"job_id": int64(0), "url": "", "existing": false} // a job that was handed in
	Cursor = (*int64)(nil)                                               // where the next page begins; null at the end
)

// EventStream is the media type of live streams.
const EventStream = "text/event-stream"

// Right is the least that an address needs of whoever uses it.
type Right string

// The rights, from the least to the most.
const (
	Machine Right = "machine" // nothing is checked, not even the host's name: what watches the server asks so
	Anyone  Right = "anyone"  // also without an account where one is needed
	Guest   Right = "guest"   // whoever may use the site
	User    Right = "user"    // whoever has an account, and keys
	Login   Right = "login"   // whoever has logged in, and no key
	Setter  Right = "setter"
	Staff   Right = "staff"
	Admin   Right = "admin"
)

var rights = []Right{Machine, Anyone, Guest, User, Login, Setter, Staff, Admin}

// Method returns the method of an address.
func (a Address) Method() string {
	method, _, _ := strings.Cut(a.Route, " ")
	return method
}

// Path returns the path of an address, as the router has it.
func (a Address) Path() string {
	_, path, _ := strings.Cut(a.Route, " ")
	return path
}

// Arrange puts addresses into the order in which the router has to try them, whatever the order of the tables: a word
// goes before a parameter, which goes before all that follows. An address that is there twice, or that says of itself
// what cannot be, is an error.
func Arrange(all []Address) ([]Address, error) {
	seen := map[string]bool{}
	for _, a := range all {
		switch method, path, ok := strings.Cut(a.Route, " "); {
		case !ok || method == "" || !strings.HasPrefix(path, "/"):
			return nil, fmt.Errorf("address %q: want METHOD /path", a.Route)
		case seen[method+" "+shape(path)]:
			return nil, fmt.Errorf("address %s: there are two", a.Route)
		case !slices.Contains(rights, a.For):
			return nil, fmt.Errorf("address %s: nobody is called %q", a.Route, a.For)
		case a.By == nil:
			return nil, fmt.Errorf("address %s: nobody answers", a.Route)
		case a.OrKey && a.Confirm == "", a.Confirm != "" && (a.For == Machine || a.For == Anyone):
			return nil, fmt.Errorf("address %s: nobody could confirm it", a.Route)
		case a.Asks != "" && a.Method() != fiber.MethodPost:
			return nil, fmt.Errorf("address %s: it is no form, so nobody can be asked", a.Route)
		case a.Upload != 0 && (a.For != Setter || strings.ContainsAny(path, ":*")):
			return nil, fmt.Errorf("address %s: uploads are of setters, and are known by a whole path before anything is routed", a.Route)
		default:
			seen[method+" "+shape(path)] = true
		}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Address) int {
		return cmp.Or(slices.Compare(ranks(a.Path()), ranks(b.Path())), strings.Compare(a.Route, b.Route))
	})
	return all, nil
}

// shape is a path without the names of its parameters: two paths of one shape answer to the same requests.
func shape(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") {
			parts[i] = ":"
		}
	}
	return strings.Join(parts, "/")
}

// ranks says of each part of a path how much it fits: a word one thing, a parameter
// one part, and a star all that follows.
func ranks(path string) []int {
	var out []int
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case strings.HasPrefix(part, "*"):
			out = append(out, 2)
		case strings.HasPrefix(part, ":"):
			out = append(out, 1)
		default:
			out = append(out, 0)
		}
	}
	return out
}
