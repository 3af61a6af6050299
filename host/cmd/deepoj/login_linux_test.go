package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// terminal returns both ends of a new terminal: where somebody types and looks, and where a program reads.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close(); _ = program.Close() })
	return person, program
}

// asked waits until what is written ends with the question.
func asked(t *testing.T, out *bufio.Reader, question string) {
	t.Helper()
	var said strings.Builder
	for !strings.HasSuffix(said.String(), question) {
		b, err := out.ReadByte()
		if err != nil {
			t.Fatalf("%q is never asked: %q, %v", question, said.String(), err)
		}
		said.WriteByte(b)
	}
}

func TestAPasswordIsNotSeenWhileItIsTyped(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery"
	store, url := serve(t, sqltest.DSN(t))
	hash, err := people.HashPassword(password)
	if err == nil {
		err = store.CreateUser(t.Context(), sql.NewUser{Name: "ann", PasswordHash: hash, Role: judge.RoleContestant})
	}
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	run := func(ctx context.Context, in *os.File) (errs *bufio.Reader, status chan int) {
		read, write := io.Pipe()
		status = make(chan int, 1)
		go func() {
			p := &command.Process{In: in, Out: io.Discard, Err: write, Getenv: func(name string) (string, bool) {
				return map[string]string{"HOME": home}[name], name == "HOME"
			}}
			status <- program().Run(ctx, p, []string{"login", url})
			_ = write.Close()
		}()
		return bufio.NewReader(read), status
	}
	ended := func(status chan int, errs *bufio.Reader) int {
		t.Helper()
		go func() { _, _ = io.Copy(io.Discard, errs) }()
		select {
		case s := <-status:
			return s
		case <-time.After(time.Minute):
			t.Fatal("the login does not end")
			return -1
		}
	}

	person, in := terminal(t)
	errs, status := run(t.Context(), in)
	asked(t, errs, "Name: ")
	fmt.Fprint(person, "ann\r")
	asked(t, errs, "Password: ")
	fmt.Fprint(person, password, "\r")
	if s := ended(status, errs); s != 0 {
		t.Errorf("the login ends with status %d", s)
	}
	if err := unix.SetNonblock(int(person.Fd()), true); err != nil {
		t.Fatal(err)
	}
	if mode, err := unix.IoctlGetTermios(int(in.Fd()), unix.TCGETS); err != nil || mode.Lflag&unix.ECHO == 0 {
		t.Errorf("after the login the terminal shows nothing any more: %v", err)
	}
	fmt.Fprintln(person, "after")
	seen := make([]byte, 4096)
	n, err := unix.Read(int(person.Fd()), seen)
	if err != nil || !strings.Contains(string(seen[:n]), "after") || strings.Contains(string(seen[:n]), "horse") {
		t.Errorf("the terminal shows %q, %v; want what is typed afterwards, and not the password", seen[:n], err)
	}

	// Where there is a second factor, its code is asked for, too, and not seen.
	codes := withTOTP(t, store.Site, "ann")
	for code, want := range map[string]int{codes[0]: 0, "aaaa-bbbb-cccc-dddd": 1} {
		person, in = terminal(t)
		errs, status = run(t.Context(), in)
		asked(t, errs, "Name: ")
		fmt.Fprint(person, "ann\r")
		asked(t, errs, "Password: ")
		fmt.Fprint(person, password, "\r")
		asked(t, errs, "Code of the second factor: ")
		fmt.Fprint(person, code, "\r")
		if s := ended(status, errs); s != want {
			t.Errorf("a login with the code %s ends with status %d, want %d", code, s, want)
		}
		if err := unix.SetNonblock(int(person.Fd()), true); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(person, "after")
		n, err := unix.Read(int(person.Fd()), seen)
		if err != nil || strings.Contains(string(seen[:n]), code[:4]) {
			t.Errorf("the terminal shows %q, %v; want no code", seen[:n], err)
		}
	}

	// An interrupt at the question leaves a terminal that shows again what is typed.
	person, in = terminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	errs, status = run(ctx, in)
	asked(t, errs, "Name: ")
	fmt.Fprint(person, "ann\r")
	asked(t, errs, "Password: ")
	interrupt()
	if s := ended(status, errs); s != 1 {
		t.Errorf("an interrupted login ends with status %d", s)
	}
	if mode, err := unix.IoctlGetTermios(int(in.Fd()), unix.TCGETS); err != nil || mode.Lflag&unix.ECHO == 0 {
		t.Errorf("after the interrupt the terminal shows nothing any more: %v", err)
	}
}
