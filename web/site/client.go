package site

import (
	"bytes"
	"net/netip"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
)

// ClientAddress returns the address that a request came from: of who connected, or
// if that is a reverse proxy that is trusted, of who connected to it.
func (s *Site) ClientAddress(c *fiber.Ctx) string {
	if len(s.Config.Proxies) == 0 {
		return c.IP()
	}
	var hops []string
	for _, line := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		hops = append(hops, strings.Split(string(line), ",")...)
	}
	return behindProxies(c.IP(), hops, s.Config.Proxies)
}

// behindProxies follows the addresses of X-Forwarded-For from its end, where each proxy adds who connected to it, as
// long as the one that speaks is trusted. What stands before may be invented, and what is no address is not believed.
func behindProxies(peer string, hops []string, trusted []netip.Prefix) string {
	at, err := netip.ParseAddr(peer)
	if err != nil {
		return peer
	}
	at = at.Unmap()
	for i := len(hops) - 1; i >= 0 && within(at, trusted); i-- {
		next, err := hopAddress(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		at = next
	}
	return at.String()
}

// hopAddress reads an address, with which some proxies write a port.
func hopAddress(text string) (netip.Addr, error) {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap().WithZone(""), nil
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return a.Unmap().WithZone(""), err
}

func within(a netip.Addr, ranges []netip.Prefix) bool {
	for _, r := range ranges {
		if r.Contains(a.WithZone("")) {
			return true
		}
	}
	return false
}

// Proxied reports whether a request came through a proxy, as far as that says so: it
// may then be from anywhere, whatever address the connection is from.
func Proxied(c *fiber.Ctx) (is bool) {
	c.Request().Header.VisitAll(func(name, _ []byte) {
		name = bytes.ToLower(name)
		switch string(name) {
		case "forwarded", "via", "x-real-ip":
			is = true
		default:
			is = is || bytes.HasPrefix(name, []byte("x-forwarded-"))
		}
	})
	return is
}

// MakeRoom makes room for an asker who is new, where the most are known. It looks at a few others and forgets those
// that have all their requests again, or else one of them, who gets more than their due: the memory is bounded, and so
// is the time that each of a flood of addresses takes. It must be called with the lock held.
func MakeRoom[K comparable](all map[K]time.Time, asker K, now time.Time, most int) {
	const few = 16
	if _, known := all[asker]; known || len(all) < most {
		return
	}
	var last K
	looked := 0
	for other, full := range all { // in an order that nobody can tell
		if full.Before(now) {
			delete(all, other)
		}
		last = other
		if looked++; looked == few {
			break
		}
	}
	if len(all) >= most {
		delete(all, last)
	}
}

// LimitedAddress returns what the requests of an address are counted by, unless it is one of this machine. Whoever has
// an IPv6 address has a network of 64 bits of them.
func LimitedAddress(ip string) (string, bool) {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ip, true
	}
	a = a.Unmap().WithZone("")
	switch {
	case a.IsLoopback():
		return "", false
	case a.Is6():
		return netip.PrefixFrom(a, 64).Masked().String(), true
	}
	return a.String(), true
}
