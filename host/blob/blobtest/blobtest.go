// Package blobtest runs a real S3 server for tests: versitygw over a folder. `make test` builds it.
package blobtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"deepoj/host/platform"
)

// Program is where `make test` puts the server, from the top of the repository.
const Program = ".build/versitygw"

// Server is an S3 server with one empty bucket, on a loopback address.
type Server struct {
	Endpoint             string // host:port, without TLS
	Bucket               string
	AccessKey, SecretKey string
	Dir                  string // where the objects of the bucket are, as files by key

	data string
	cmd  *exec.Cmd
}

// Start starts a server that ends with the test. Without the program the test is
// skipped, or fails when DEEPOJ_TEST=require.
func Start(t testing.TB, top string) *Server {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(top, Program))
	if err == nil {
		_, err = os.Stat(program)
	}
	switch {
	case err == nil:
	case os.Getenv("DEEPOJ_TEST") == "require":
		t.Fatalf("the S3 server is missing, which `make test` builds: %v", err)
	default:
		t.Skipf("the S3 server is missing, which `make test` builds: %v", err)
	}
	data := t.TempDir()
	for _, folder := range []string{"objects", "metadata"} {
		if err := os.Mkdir(filepath.Join(data, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{Bucket: "deepoj", AccessKey: "tester", SecretKey: "secret-of-the-tester", data: data}
	s.Dir = filepath.Join(data, "objects", s.Bucket)
	for range 10 { // another process may take the port before the server does
		if s.Endpoint, err = freeAddress(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err = s.start(program); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Kill(t) })
	if err := s.client(t).MakeBucket(t.Context(), s.Bucket, minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Server) client(t testing.TB) *minio.Client {
	t.Helper()
	c, err := minio.New(s.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, "")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// patience bounds how long a server may take to begin.
const patience = 60 * time.Second

// start runs the program and waits until it listens.
func (s *Server) start(program string) error {
	s.cmd = exec.Command(program, "--quiet", "--port", s.Endpoint, "--access", s.AccessKey, "--secret", s.SecretKey,
		"posix", "--sidecar", filepath.Join(s.data, "metadata"), filepath.Join(s.data, "objects"))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{}
	platform.DieWithParent(s.cmd.SysProcAttr, syscall.SIGKILL)
	cmd, started, ended := s.cmd, make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the end of the thread would be the server's
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start the S3 server: %w", err)
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if conn, err := net.DialTimeout("tcp", s.Endpoint, time.Second); err == nil {
			select {
			case err := <-ended: // who answers is somebody else
				return fmt.Errorf("the S3 server ended: %w", errors.Join(err, conn.Close()))
			default:
				return conn.Close()
			}
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the S3 server ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.Join(errors.New("the S3 server does not listen"), s.cmd.Process.Kill())
}

// Stall has the server answer nothing until Resume: its connections stay open.
func (s *Server) Stall(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
}

// Resume ends a Stall.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
}

func (s *Server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the server at once, as a power cut would. It may be called again.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	for deadline := time.Now().Add(patience); ; {
		conn, err := net.DialTimeout("tcp", s.Endpoint, time.Second)
		if err != nil {
			return
		}
		if err := conn.Close(); err != nil || time.Now().After(deadline) {
			t.Error("the S3 server still listens", err)
			return
		}
		<-time.After(10 * time.Millisecond)
	}
}

// Restart starts a server that was killed, with the objects that it had, at the address that it had.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	program := s.cmd.Path
	var err error
	for range 10 {
		if err = s.start(program); err == nil {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Fatal(err)
}

func freeAddress(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}
