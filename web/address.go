package web

import (
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// clientAddress returns the address that a request came from: of who connected, or
// if that is a reverse proxy that is trusted, of who connected to it.
func (s *Server) clientAddress(c *fiber.Ctx) string {
	if len(s.cfg.Proxies) == 0 {
		return c.IP()
	}
	var hops []string
	for _, line := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		hops = append(hops, strings.Split(string(line), ",")...)
	}
	return behindProxies(c.IP(), hops, s.cfg.Proxies)
}

// behindProxies follows the addresses of X-Forwarded-For from its end, where each
// proxy adds who connected to it, as long as the one that speaks is trusted. What
// stands before may be invented, and what is no address is not believed.
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
