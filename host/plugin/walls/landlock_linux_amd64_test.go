package walls_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin/walls"
)

// landlockCommand runs [reachOut].
const landlockCommand = "plugin-landlock"

func init() { wallPrograms[landlockCommand] = func(args []string) { reachOut(args[0]) } }

// reachOut tries TCP behind Landlock alone, with sockets that the other walls deny.
func reachOut(address string) {
	version, err := walls.LandlockAlone()
	if err != nil {
		fmt.Println(err)
		return
	}
	tries := map[string]func() error{
		"listen": func() error {
			var plain net.ListenConfig
			plain.SetMultipathTCP(false) // which Landlock knows nothing of: that is seccomp's alone
			l, err := plain.Listen(context.Background(), "tcp4", "127.0.0.1:0")
			if err == nil {
				err = l.Close()
			}
			return err
		},
		"connect": func() error {
			c, err := net.Dial("tcp4", address)
			if err == nil {
				err = c.Close()
			}
			return err
		},
	}
	fmt.Println("Landlock", version >= 4)
	for _, name := range []string{"listen", "connect"} {
		fmt.Println(name, errors.Is(tries[name](), unix.EACCES))
	}
}

// Sockets are denied by seccomp, too; were that gone, nothing would lead out all the same.
// With the race detector there is C code in the program, which Landlock cannot hold.
func TestLandlockAloneLeadsToNoTCP(t *testing.T) {
	if withRace {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal("run this test with CGO_ENABLED=0: a program with C code has no Landlock")
		}
		t.Skip("a program with C code has no Landlock")
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out, err := exec.CommandContext(t.Context(), os.Args[0], landlockCommand, l.Addr().String()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	switch string(out) {
	case "Landlock true\nlisten true\nconnect true\n":
	case "Landlock false\nlisten false\nconnect false\n":
		t.Log("this kernel's Landlock has no TCP")
	default:
		t.Errorf("behind Landlock:\n%s", out)
	}
}
