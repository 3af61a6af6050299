package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Refuse answers a request with a failure, if it came with a socket for the answers, and
// closes its descriptors.
func Refuse(files []*os.File, why error) {
	if len(files) > 0 && SlotAnswers.Check(int(files[0].Fd())) == nil {
		_ = SendReply(int(files[0].Fd()), Failure(why)) // fails when the client has gone
	}
	CloseAll(files)
}

// Listen hands over the requests that come on a connection, until its end or that
// of ctx. The first descriptor of each is the socket for the answers. A message that
// makes no sense, or has descriptors of the wrong kind, is dropped, and its sender is
// told where that can be.
func Listen(ctx context.Context, c *net.UnixConn, log *slog.Logger, handle func(q Request, files []*os.File)) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("use the connection: %w", err)
	}
	buf := make([]byte, MaxMessage)
	for {
		var q Request
		var files []*os.File
		var got error
		err := raw.Read(func(fd uintptr) bool {
			files, got = Receive(int(fd), buf, &q)
			return !errors.Is(got, unix.EAGAIN)
		})
		if got == nil && err == nil {
			if got = CheckFiles(ConnSlots(q), files); got != nil {
				got = &MessageError{got}
			}
		}
		_, bad := errors.AsType[*MessageError](got)
		switch {
		case ctx.Err() != nil:
			CloseAll(files)
			return nil //nolint:nilerr // it was asked to stop
		case errors.Is(got, ErrClosed):
			return nil
		case err == nil && bad:
			log.WarnContext(ctx, "a client's request is dropped", slog.Any("err", got))
			Refuse(files, got)
			continue
		case err != nil || got != nil:
			return errors.Join(err, got)
		}
		handle(q, files)
	}
}
