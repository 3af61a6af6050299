package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/twmb/franz-go/pkg/kgo"

	"deepoj/sql/published"
)

// usual is what one writes with pglogrepl: values by the types of their columns in a map for each row, encoding/json, and
// Kafka's acknowledgements as what PostgreSQL is told.
func usual(ctx context.Context) error {
	cfg, err := pgconn.ParseConfig(os.Getenv(urlEnv))
	if err != nil {
		return err
	}
	cfg.RuntimeParams["replication"] = "database"
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	slot, want := os.Getenv(slotEnv), wanted()
	if want == 0 {
		_, err := pglogrepl.CreateReplicationSlot(ctx, conn, slot, "pgoutput", pglogrepl.CreateReplicationSlotOptions{})
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv(brokerEnv)), kgo.DefaultProduceTopic(topic),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := pglogrepl.StartReplication(ctx, conn, slot, 0, pglogrepl.StartReplicationOptions{
		PluginArgs: []string{"proto_version '1'", "publication_names '" + published.Publication + "'"},
	}); err != nil {
		return err
	}
	u := &usualWay{client: client, types: pgtype.NewMap(), relations: map[uint32]*pglogrepl.RelationMessage{}, done: make(chan struct{}), want: want}
	return u.receive(ctx, conn)
}

type usualWay struct {
	client    *kgo.Client
	types     *pgtype.Map
	relations map[uint32]*pglogrepl.RelationMessage
	lsn       pglogrepl.LSN // of the commit
	index     int

	want  int64
	acked atomic.Int64
	safe  atomic.Uint64 // LSN of the newest event that Kafka acknowledged
	fault atomic.Pointer[error]
	done  chan struct{}
}

func (u *usualWay) receive(ctx context.Context, conn *pgconn.PgConn) error {
	const pause = time.Second
	next := time.Now().Add(pause)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-u.done:
			stop()
		case <-ctx.Done():
		}
	}()
	for {
		if time.Now().After(next) {
			if err := pglogrepl.SendStandbyStatusUpdate(ctx, conn, pglogrepl.StandbyStatusUpdate{WALWritePosition: pglogrepl.LSN(u.safe.Load())}); err != nil {
				return err
			}
			next = time.Now().Add(pause)
		}
		wait, cancel := context.WithDeadline(ctx, next)
		msg, err := conn.ReceiveMessage(wait)
		cancel()
		switch {
		case u.acked.Load() >= u.want:
			return nil
		case u.fault.Load() != nil:
			return *u.fault.Load()
		case pgconn.Timeout(err) && ctx.Err() == nil:
			continue
		case err != nil:
			return err
		}
		copied, ok := msg.(*pgproto3.CopyData)
		if !ok {
			return fmt.Errorf("%T came", msg)
		}
		switch copied.Data[0] {
		case pglogrepl.PrimaryKeepaliveMessageByteID:
			k, err := pglogrepl.ParsePrimaryKeepaliveMessage(copied.Data[1:])
			if err != nil {
				return err
			}
			if k.ReplyRequested {
				next = time.Time{}
			}
		case pglogrepl.XLogDataByteID:
			x, err := pglogrepl.ParseXLogData(copied.Data[1:])
			if err != nil {
				return err
			}
			if err := u.message(ctx, x.WALData); err != nil {
				return err
			}
		}
	}
}

func (u *usualWay) message(ctx context.Context, data []byte) error {
	msg, err := pglogrepl.Parse(data)
	if err != nil {
		return err
	}
	switch m := msg.(type) {
	case *pglogrepl.BeginMessage:
		u.lsn, u.index = m.FinalLSN, 0
	case *pglogrepl.RelationMessage:
		u.relations[m.RelationID] = m
	case *pglogrepl.InsertMessage:
		return u.insert(ctx, m)
	}
	return nil
}

func (u *usualWay) insert(ctx context.Context, m *pglogrepl.InsertMessage) error {
	relation, ok := u.relations[m.RelationID]
	if !ok {
		return errors.New("a row of an unknown table")
	}
	values := map[string]any{}
	for i, column := range m.Tuple.Columns {
		name, oid := relation.Columns[i].Name, relation.Columns[i].DataType
		switch column.DataType {
		case pglogrepl.TupleDataTypeNull:
			values[name] = nil
		case pglogrepl.TupleDataTypeText:
			kind, ok := u.types.TypeForOID(oid)
			if !ok {
				values[name] = string(column.Data)
				continue
			}
			v, err := kind.Codec.DecodeValue(u.types, oid, pgtype.TextFormatCode, column.Data)
			if err != nil {
				return err
			}
			values[name] = v
		}
	}
	u.index++
	value, err := json.Marshal(map[string]any{
		"event_type": values["kind"], "event_id": u.lsn.String() + ":" + strconv.Itoa(u.index),
		"submission": values["job_id"], "generation": values["generation"], "attempt": values["attempt"], "seq": values["id"],
		"at": values["at"], "body": values["data"],
	})
	if err != nil {
		return err
	}
	lsn := u.lsn
	key := fmt.Sprintf("deepoj:job:%v", values["job_id"])
	u.client.Produce(ctx, &kgo.Record{Key: []byte(key), Value: value}, func(_ *kgo.Record, err error) {
		if err != nil {
			u.fault.CompareAndSwap(nil, &err)
			return
		}
		u.safe.Store(uint64(lsn))
		if u.acked.Add(1) == u.want {
			close(u.done)
		}
	})
	return nil
}
