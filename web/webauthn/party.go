package webauthn

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// Party is a site, as authenticators know it: a passkey belongs to its ID. The zero Party has no passkeys.
type Party struct {
	ID      string   // a name of the site, without a port
	Name    string   // for people
	Origins []string // of its pages
}

// PartyOf makes the party of a server with a public address ("" = not known) that listens on HOST:PORT and is known by
// some public names, with ports where they are not those of HTTPS. The ID is the name in the public address, else the
// first of the names; others count that end in it. Without a name passkeys are
// only for a browser on the same machine, at http://localhost: an address of numbers cannot have any. What a browser
// calls the server never matters.
func PartyOf(name, address, listen string, hosts []string) Party {
	p := Party{Name: name}
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" && net.ParseIP(u.Hostname()) == nil {
		p.ID = strings.ToLower(u.Hostname())
		p.Origins = []string{origin(u.Scheme, p.ID, u.Port())}
	}
	for _, host := range hosts {
		called, port, err := net.SplitHostPort(strings.ToLower(host))
		if err != nil {
			called, port = strings.ToLower(host), ""
		}
		if called = strings.TrimSuffix(called, "."); called == "" || net.ParseIP(strings.Trim(called, "[]")) != nil {
			continue
		}
		if p.ID == "" {
			p.ID = called
		}
		if called == p.ID || strings.HasSuffix(called, "."+p.ID) {
			p.Origins = append(p.Origins, origin("https", called, port))
		}
		if called == "localhost" && p.ID == called {
			p.Origins = append(p.Origins, origin("http", called, port))
		}
	}
	slices.Sort(p.Origins)
	p.Origins = slices.Compact(p.Origins)
	if len(hosts) > 0 || address != "" {
		return p
	}
	called, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(called); err == nil && (called == "localhost" || ip != nil && ip.IsLoopback()) {
		p.ID, p.Origins = "localhost", []string{origin("http", "localhost", port)}
	}
	return p
}

// origin is how a browser writes where a page comes from.
func origin(scheme, host, port string) string {
	if port == "" || scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		return scheme + "://" + host
	}
	return scheme + "://" + host + ":" + port
}
