package pg

import (
	"net"
	"syscall"
	"testing"
)

func TestAConnectionNoticesThatItsPeerVanished(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := dialer().DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		for option, want := range map[int]int{18: 20_000, syscall.TCP_KEEPIDLE: 10, syscall.TCP_KEEPINTVL: 5} {
			if got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option); err != nil || got != want {
				t.Errorf("option %d = %d, %v; want %d", option, got, err, want)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
