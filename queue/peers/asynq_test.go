package peers

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/hibiken/asynq"
)

// asynqs is asynq on Redis, which keeps what it has in memory only.
type asynqs struct{ opt asynq.RedisClientOpt }

func newAsynq(socket string) *asynqs {
	return &asynqs{asynq.RedisClientOpt{Network: "unix", Addr: socket, DB: 1, PoolSize: 64}}
}

func (*asynqs) settle(*testing.B) {}

func (a *asynqs) start(b *testing.B, do func([]byte)) (*asynq.Client, func()) {
	b.Helper()
	server := asynq.NewServer(a.opt, asynq.Config{Concurrency: slots, LogLevel: asynq.FatalLevel})
	err := server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		do(t.Payload())
		return nil
	}))
	if err != nil {
		b.Fatal(err)
	}
	client := asynq.NewClient(a.opt)
	return client, func() {
		server.Shutdown()
		if err := client.Close(); err != nil {
			b.Error(err)
		}
	}
}

func (a *asynqs) round(b *testing.B, n int) {
	b.Helper()
	payload, err := json.Marshal(riverArgs{Source: source})
	if err != nil {
		b.Fatal(err)
	}
	var worked atomic.Int64
	over := make(chan struct{})
	client, stop := a.start(b, func([]byte) {
		if worked.Add(1) == int64(n) {
			close(over)
		}
	})
	defer stop()
	submitAll(b, n, func(ctx context.Context, _, n int) error { // it has no call for several
		for range n {
			if _, err := client.EnqueueContext(ctx, asynq.NewTask("judge", payload)); err != nil {
				return err
			}
		}
		return nil
	})
	await(b, over)
	inspector := asynq.NewInspector(a.opt)
	defer inspector.Close()
	eventually(b, func() bool {
		q, err := inspector.GetQueueInfo("default")
		if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
			b.Fatal(err)
		}
		return err == nil && q.Active+q.Pending == 0
	})
}
