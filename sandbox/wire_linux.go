package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// socketPair returns the two ends of a fresh message socket.
func socketPair() (ours, theirs int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("make a socket pair: %w", err)
	}
	return p[0], p[1], nil
}

// sendMessage writes v as one message with fds, waiting for room if the socket blocks.
func sendMessage(sock int, v any, fds ...int) error { return send(sock, 0, v, fds...) }

// sendReply writes v as one message with fds and never waits. A client has asked for
// it, so there is room unless the client reads no answers: then it is EAGAIN.
func sendReply(sock int, v reply, fds ...int) error { return send(sock, unix.MSG_DONTWAIT, v, fds...) }

func send(sock, flags int, v any, fds ...int) error {
	b, err := encode(v)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if len(b) > maxMessage {
		return unfit("a command of %d bytes is longer than %d", len(b), maxMessage)
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for {
		err = unix.Sendmsg(sock, b, oob, nil, unix.MSG_NOSIGNAL|flags)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("send a message: %w", err)
	}
	return nil
}

// receiveMessage reads one message into v, using buf (of maxMessage bytes), and
// returns its descriptors, close-on-exec. It returns errClosed at the end. After a
// [messageError] the connection is as good as before, and what descriptors there were
// are returned all the same, for an answer.
func receiveMessage(sock int, buf []byte, v any) ([]*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(4*maxFDs))
	var n, oobn, flags int
	var err error
	for {
		n, oobn, flags, _, err = unix.Recvmsg(sock, buf, oob, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch {
	case errors.Is(err, unix.ECONNRESET):
		return nil, errClosed
	case err != nil:
		return nil, fmt.Errorf("receive a message: %w", err)
	case n == 0 && oobn == 0 && hungUp(sock):
		return nil, errClosed
	}
	files, err := rights(oob[:oobn])
	switch {
	case err != nil:
	case flags&unix.MSG_TRUNC != 0:
		err = fmt.Errorf("it has more than %d bytes", maxMessage)
	case flags&unix.MSG_CTRUNC != 0:
		err = fmt.Errorf("it has more than %d descriptors", maxFDs)
	case n == 0:
		err = errors.New("it is empty")
	default:
		err = decode(buf[:n], v)
	}
	if err != nil {
		return files, &messageError{err}
	}
	return files, nil
}

// hungUp reports whether the client has closed its end. An empty message looks like
// that too.
func hungUp(sock int) bool {
	fds := []unix.PollFd{{Fd: int32(sock), Events: unix.POLLIN | unix.POLLRDHUP}}
	n, err := unix.Poll(fds, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(fds, 0)
	}
	return err != nil || n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLRDHUP|unix.POLLERR|unix.POLLNVAL) != 0
}

// messageError says what is wrong with a message. Whoever sent it is at fault, and
// others on the same connection are not.
type messageError struct{ err error }

func (e *messageError) Error() string { return "a message makes no sense: " + e.err.Error() }
func (e *messageError) Unwrap() error { return e.err }

// errClosed says that the other side closed its end.
var errClosed = errors.New("the other side closed the connection")

func rights(oob []byte) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("parse descriptors: %w", err)
	}
	var files []*os.File
	for _, m := range msgs {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			closeAll(files)
			return nil, fmt.Errorf("parse descriptors: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // descriptors of others that we only borrowed
	}
}
