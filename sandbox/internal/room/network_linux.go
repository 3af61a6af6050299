package room

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wait"
)

// networks are those of rooms that are gone, for rooms to come; nil keeps none. To make a network namespace, and to
// take it away, takes the kernel as long as a small program runs.
//
// Nothing can be left in one. No interface is up, and nobody may change that or a setting. A program without locks gets
// unix sockets only, which nothing counts but as long as they are there. A room with locks takes its network with it.
type networks chan *network

// network is the network namespace of a room, or of none.
type network struct {
	space int    // its descriptor
	count int    // a file that says how many sockets are in it
	idle  string // what that says of none
}

// isolate moves the calling thread into namespaces of its own, and returns its network, nil where none are kept.
func (n networks) isolate() (net *network, err error) {
	flags := unix.CLONE_FS | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	select {
	case net = <-n:
		if err := unix.Setns(net.space, unix.CLONE_NEWNET); err != nil {
			return nil, errors.Join(fmt.Errorf("enter a network namespace: %w", err), net.close())
		}
	default:
		flags |= unix.CLONE_NEWNET
	}
	if err := unix.Unshare(flags); err != nil {
		err = fmt.Errorf("make namespaces: %w", err)
		if net != nil {
			err = errors.Join(err, net.close())
		}
		return nil, err
	}
	unix.Umask(0o022)
	if n != nil && net == nil {
		return thisNetwork()
	}
	return net, nil
}

// thisNetwork returns the network of the calling thread.
func thisNetwork() (*network, error) {
	const folder, flags = "/proc/thread-self/", unix.O_RDONLY | unix.O_CLOEXEC
	space, err := unix.Open(folder+"ns/net", flags, 0)
	if err != nil {
		return nil, fmt.Errorf("keep a network namespace: %w", err)
	}
	count, err := unix.Open(folder+"net/sockstat", flags, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("count the sockets of a room: %w", err), unix.Close(space))
	}
	n := &network{space: space, count: count}
	if n.idle, err = n.sockets(); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// sockets says how many sockets there are.
func (n *network) sockets() (string, error) {
	var b [256]byte
	got, err := unix.Pread(n.count, b[:], 0)
	if err != nil {
		return "", fmt.Errorf("count the sockets of a room: %w", err)
	}
	line, _, _ := bytes.Cut(b[:got], []byte("\n"))
	return string(line), nil
}

func (n *network) close() error { return errors.Join(unix.Close(n.space), unix.Close(n.count)) }

// settle waits until the sockets of programs that are gone are gone, too. Those that were sent through each other go a
// little later, when the kernel collects them: until then they are counted, and have their names.
func (n *network) settle() error {
	err := wait.RetryUntil(time.Now().Add(wait.KillPatience), func() error {
		now, err := n.sockets()
		if err == nil && now != n.idle {
			err = unix.EBUSY
		}
		return err
	})
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("sockets of programs that are gone are still there after %s", wait.KillPatience)
	}
	return err
}

// keep keeps the network of a room in which nothing runs any more.
func (n networks) keep(net *network) error {
	if net.settle() != nil {
		return net.close()
	}
	select {
	case n <- net:
		return nil
	default:
		return net.close()
	}
}

// close closes those that no room has.
func (n networks) close() error {
	var errs []error
	for {
		select {
		case net := <-n:
			errs = append(errs, net.close())
		default:
			return errors.Join(errs...)
		}
	}
}
