package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// position returns what the newest transaction of this feed that was committed says, or nil when there is none.
func (p *Producer) position(ctx context.Context) ([]byte, error) {
	first, err := p.offset(ctx, -2)
	if err != nil {
		return nil, err
	}
	end, err := p.offset(ctx, -1)
	if err != nil {
		return nil, err
	}
	// From the end back, further each time: only what was compacted away lies between.
	for back := int64(64); ; back *= 16 {
		from := max(first, end-back)
		found, err := p.lastPosition(ctx, from, end)
		if err != nil || found != nil || from == first {
			return found, err
		}
	}
}

// offset asks for the first (-2) offset of the position's topic, or the one after the last that is committed (-1).
func (p *Producer) offset(ctx context.Context, when int64) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = 1
	t, part := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	t.Topic, part.Timestamp = p.cfg.Position, when
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	answer, err := req.RequestWith(ctx, p.client)
	if err != nil {
		return 0, err
	}
	if len(answer.Topics) != 1 || len(answer.Topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("kafka topic %s: the broker says nothing of partition 0", p.cfg.Position)
	}
	got := answer.Topics[0].Partitions[0]
	return got.Offset, kerr.ErrorForCode(got.ErrorCode)
}

// lastPosition reads from one offset to another and returns the newest position of this feed.
func (p *Producer) lastPosition(ctx context.Context, from, end int64) (found []byte, err error) {
	if from >= end {
		return nil, nil
	}
	opts, err := p.cfg.reach()
	if err != nil {
		return nil, err
	}
	reader, err := kgo.NewClient(append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{p.cfg.Position: {0: kgo.NewOffset().At(from)}}))...)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	for next := from; next < end; {
		fetched := reader.PollFetches(ctx)
		if err := fetched.Err0(); err != nil {
			return nil, err
		}
		for _, e := range fetched.Errors() {
			return nil, e.Err
		}
		for _, r := range fetched.Records() {
			next = max(next, r.Offset+1)
			if !r.Attrs.IsControl() && string(r.Key) == p.cfg.ID {
				found = r.Value
			}
		}
	}
	return found, nil
}
