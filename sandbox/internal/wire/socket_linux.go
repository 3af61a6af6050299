package wire

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// SocketPair returns the two ends of a fresh message socket.
func SocketPair() (ours, theirs int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("make a socket pair: %w", err)
	}
	return p[0], p[1], nil
}

// send writes v as one message with fds, waiting for room if the socket blocks.
func send(sock int, v any, fds ...int) error { return sendFlags(sock, 0, v, fds...) }

// SendReply writes v as one message with fds and never waits. A client has asked for
// it, so there is room unless the client reads no answers: then it is EAGAIN.
func SendReply(sock int, v Reply, fds ...int) error {
	return sendFlags(sock, unix.MSG_DONTWAIT, v, fds...)
}

// pack makes one message of v and fds.
func pack(v any, fds []int) (b, oob []byte, err error) {
	if b, err = Encode(v); err != nil {
		return nil, nil, fmt.Errorf("encode a message: %w", err)
	}
	if len(b) > MaxMessage {
		return nil, nil, Unfit("a command of %d bytes is longer than %d", len(b), MaxMessage)
	}
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	return b, oob, nil
}

func sendFlags(sock, flags int, v any, fds ...int) error {
	b, oob, err := pack(v, fds)
	if err != nil {
		return err
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

// Receive reads one message into v, using buf (of maxMessage bytes), and returns its descriptors, close-on-exec. It
// returns errClosed at the end. After a [MessageError] the connection is as good as before, and what descriptors there
// were are returned all the same, for an answer.
func Receive(sock int, buf []byte, v any) ([]*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(4*MaxFDs))
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
		return nil, ErrClosed
	case err != nil:
		return nil, fmt.Errorf("receive a message: %w", err)
	case n == 0 && oobn == 0 && HungUp(sock):
		return nil, ErrClosed
	}
	files, err := Rights(oob[:oobn])
	switch {
	case err != nil:
	case flags&unix.MSG_TRUNC != 0:
		err = fmt.Errorf("it has more than %d bytes", MaxMessage)
	case flags&unix.MSG_CTRUNC != 0:
		err = fmt.Errorf("it has more than %d descriptors", MaxFDs)
	case n == 0:
		err = errors.New("it is empty")
	default:
		err = Decode(buf[:n], v)
	}
	if err != nil {
		return files, &MessageError{err}
	}
	return files, nil
}

// HungUp reports whether the client has closed its end. An empty message looks like that too.
func HungUp(sock int) bool {
	fds := []unix.PollFd{{Fd: int32(sock), Events: unix.POLLIN | unix.POLLRDHUP}}
	n, err := unix.Poll(fds, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(fds, 0)
	}
	return err != nil || n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLRDHUP|unix.POLLERR|unix.POLLNVAL) != 0
}

// MessageError says what is wrong with a message. Whoever sent it is at fault, and
// others on the same connection are not.
type MessageError struct{ err error }

func (e *MessageError) Error() string { return "a message makes no sense: " + e.err.Error() }
func (e *MessageError) Unwrap() error { return e.err }

// ErrClosed says that the other side closed its end.
var ErrClosed = errors.New("the other side closed the connection")

// Rights returns the descriptors that came with a message.
func Rights(oob []byte) ([]*os.File, error) {
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
			CloseAll(files)
			return nil, fmt.Errorf("parse descriptors: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}

// CloseAll closes files that somebody passed.
func CloseAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // descriptors of others that we only borrowed
	}
}
