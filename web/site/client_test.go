package site

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAProxyThatIsTrustedSaysWhoAsks(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("2001:db8:f::/48")}
	for _, tt := range []struct{ name, peer, forwarded, want string }{
		{"nobody forwards", "10.0.0.1", "", "10.0.0.1"},
		{"a stranger who invents one", "192.0.2.7", "198.51.100.1", "192.0.2.7"},
		{"a proxy", "10.0.0.1", "192.0.2.7", "192.0.2.7"},
		{"a proxy on this machine, over IPv6", "::ffff:127.0.0.1", "192.0.2.7", "192.0.2.7"},
		{"two proxies", "10.0.0.1", "192.0.2.7, 10.0.0.2", "192.0.2.7"},
		{"a client who invents one before the proxy", "10.0.0.1", "198.51.100.1, 192.0.2.7", "192.0.2.7"},
		{"a client who invents a proxy", "10.0.0.1", "198.51.100.1, 10.0.0.9, 192.0.2.7", "192.0.2.7"},
		{"a client within the proxies' network", "10.0.0.1", "10.0.0.5", "10.0.0.5"},
		{"a port", "10.0.0.1", "192.0.2.7:4711", "192.0.2.7"},
		{"IPv6", "2001:db8:f::1", "2001:db8::7", "2001:db8::7"},
		{"IPv6 with brackets and port", "10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"},
		{"no address", "10.0.0.1", "unknown", "10.0.0.1"},
		{"no address before another proxy", "10.0.0.1", "unknown, 10.0.0.2", "10.0.0.2"},
		{"an empty part", "10.0.0.1", "192.0.2.7,", "10.0.0.1"},
	} {
		var hops []string
		if tt.forwarded != "" {
			hops = strings.Split(tt.forwarded, ",")
		}
		if got := behindProxies(tt.peer, hops, trusted); got != tt.want {
			t.Errorf("%s: %s from %s is %s, want %s", tt.name, tt.forwarded, tt.peer, got, tt.want)
		}
	}
}

// FuzzBehindProxies has proxies add what they see: whatever a client invents before
// that, the address is the one that the first of them saw.
func FuzzBehindProxies(f *testing.F) {
	f.Add("192.0.2.7, 10.0.0.1", "198.51.100.4", uint8(2))
	f.Add(",,[::1]:5, x", "2001:db8::9", uint8(0))
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, invented, client string, between uint8) {
		a, err := netip.ParseAddr(client)
		if err != nil || a.Zone() != "" || within(a.Unmap(), trusted) {
			return
		}
		hops := strings.Split(invented, ",")
		for _, seen := range append([]string{client}, strings.Fields(strings.Repeat("10.0.0.2 ", int(between%4)))...) {
			hops = append(hops, " "+seen)
		}
		if got := behindProxies("10.0.0.1", hops, trusted); got != a.Unmap().String() {
			t.Errorf("behind proxies, %q from %s is %s", invented, client, got)
		}
	})
}
