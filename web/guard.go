package web

import (
	"net"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
	"deepoj/web/site"
)

// hostPolicy decides which Host headers are answered. A page of another site can reach this server through a name that
// it controls (DNS rebinding); the Host header then carries that name.
type hostPolicy struct {
	any   bool            // listening on every address, with no names configured
	exact map[string]bool // HOST:PORT, lower case
	names map[string]bool // configured without a port
}

// newHostPolicy makes the policy for a server told to listen on listen, which became bound.
func newHostPolicy(listen string, bound net.Addr, hosts []string) hostPolicy {
	p := hostPolicy{exact: map[string]bool{}, names: map[string]bool{}}
	_, port, _ := net.SplitHostPort(bound.String())
	name, _, _ := net.SplitHostPort(listen)
	ip := net.ParseIP(name)
	everywhere := name == "" || ip != nil && ip.IsUnspecified()
	p.any = everywhere && len(hosts) == 0
	if !everywhere {
		p.exact[strings.ToLower(net.JoinHostPort(name, port))] = true
	}
	if everywhere || site.IsLoopback(listen) {
		for _, local := range []string{"localhost", "127.0.0.1", "::1"} {
			p.exact[net.JoinHostPort(local, port)] = true
		}
	}
	for _, h := range hosts {
		if _, _, err := net.SplitHostPort(h); err == nil {
			p.exact[strings.ToLower(h)] = true
		} else {
			p.names[strings.ToLower(strings.Trim(h, "[]"))] = true
		}
	}
	return p
}

// mayChange reports whether a request with this Host header may change state.
func (p hostPolicy) mayChange(host string) bool {
	name, port := splitHost(host)
	return name != "" && (p.any || p.names[name] || p.exact[net.JoinHostPort(name, port)])
}

// mayRead reports whether a request with this Host header may read. An address
// and localhost cannot be rebound, so a tunnel on another port may read.
func (p hostPolicy) mayRead(host string) bool {
	name, _ := splitHost(host)
	return p.mayChange(host) || name == "localhost" || net.ParseIP(name) != nil
}

// means reports whether a Host header surely means this server, which mayRead cannot
// say of one that listens on all addresses and was told no names.
func (p hostPolicy) means(host string) bool {
	p.any = false
	return p.mayRead(host)
}

// splitHost splits a Host header into its lower-case name, without brackets, and
// port. The name is empty if the header is malformed.
func splitHost(host string) (name, port string) {
	host = strings.ToLower(host)
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), "80"
		if strings.ContainsAny(name, "[]@/") || strings.Contains(name, ":") && net.ParseIP(name) == nil {
			return "", ""
		}
	}
	return name, port
}

// sameOrigin reports whether a browser sent the request from a page of this server, or whether no browser did.
func sameOrigin(host, origin, fetchSite string) bool {
	if fetchSite != "" && fetchSite != "same-origin" && fetchSite != "none" {
		return false
	}
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return strings.EqualFold(u.Host, host)
}

// guard refuses requests that another site's page made a browser send, and
// packed bodies: a small one could unpack to more than the machine has.
func (s *Server) guard(c *fiber.Ctx) error {
	if packed := c.Get(fiber.HeaderContentEncoding); packed != "" && packed != "identity" {
		return site.Refuse(fiber.StatusUnsupportedMediaType, "packed_body", "The request's body is compressed.", "Send it without Content-Encoding.")
	}
	host := c.Get(fiber.HeaderHost)
	if site.Safe(c.Method()) {
		if !s.hosts.mayRead(host) {
			return s.foreignHost("This server does not answer to that host name.")
		}
		return c.Next()
	}
	if !s.hosts.mayChange(host) {
		return s.foreignHost("This server does not take changes under that host name.")
	}
	if allowed, _ := c.Locals(allowedOrigin{}).(bool); !allowed && !sameOrigin(host, c.Get(fiber.HeaderOrigin), c.Get("Sec-Fetch-Site")) {
		return foreignOrigin()
	}
	return c.Next()
}

func (s *Server) foreignHost(why locale.Word) error {
	return site.Refuse(fiber.StatusMisdirectedRequest, "foreign_host", why, "").
		Mended("Open %s instead, or have the server configured for this name.", "http://"+s.Addr()+"/")
}

// headers sets the security headers of every answer.
func (s *Server) headers(c *fiber.Ctx) error {
	site.SetHeaders(c)
	return c.Next()
}
