package kafka

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// all are the topics that the feed writes to.
func (p *Producer) all() []string {
	topics := append(slices.Clone(p.cfg.Topics), p.cfg.DeadLetter)
	if p.cfg.ExactlyOnce {
		topics = append(topics, p.cfg.Position)
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

// lookAtTopics makes sure that every topic is there, and learns how large a batch may be in each. It reports whether it
// had to make some.
func (p *Producer) lookAtTopics(ctx context.Context) (made bool, err error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range p.all() {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = new(name)
		req.Topics = append(req.Topics, topic)
	}
	answer, err := req.RequestWith(ctx, p.client)
	if err != nil {
		return false, err
	}
	var missing []string
	for _, t := range answer.Topics {
		name := *cmpTopic(t.Topic)
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			missing = append(missing, name)
		case err != nil && !kerr.IsRetriable(err):
			return false, &FinalError{fmt.Errorf("kafka topic %s: %w", name, err)}
		case err != nil:
			return false, fmt.Errorf("kafka topic %s: %w", name, err)
		}
	}
	if len(missing) > 0 && !p.cfg.Create {
		return false, &FinalError{fmt.Errorf("kafka has no topic %s: make it, or set kafka_create_topics: true", strings.Join(missing, ", "))}
	}
	if err := p.create(ctx, missing); err != nil {
		return false, err
	}
	return len(missing) > 0, p.learnLimits(ctx)
}

// cmpTopic is a topic's name, which brokers leave out of some errors.
func cmpTopic(name *string) *string {
	if name == nil {
		return new("?")
	}
	return name
}

func (p *Producer) create(ctx context.Context, topics []string) error {
	if len(topics) == 0 {
		return nil
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(p.cfg.Timeout.Milliseconds())
	for _, name := range topics {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, -1, -1
		if p.cfg.Partitions > 0 {
			t.NumPartitions = p.cfg.Partitions
		}
		if p.cfg.Replicas > 0 {
			t.ReplicationFactor = p.cfg.Replicas
		}
		if p.cfg.ExactlyOnce && name == p.cfg.Position {
			compact := kmsg.NewCreateTopicsRequestTopicConfig()
			compact.Name, compact.Value = "cleanup.policy", new("compact")
			t.NumPartitions, t.Configs = 1, append(t.Configs, compact)
		}
		req.Topics = append(req.Topics, t)
	}
	answer, err := req.RequestWith(ctx, p.client)
	if err != nil {
		return err
	}
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			err = fmt.Errorf("make the kafka topic %s: %w: make it, or let %q make topics", t.Topic, err, p.cfg.User)
			if kerr.IsRetriable(errors.Unwrap(err)) {
				return err
			}
			return &FinalError{err}
		}
	}
	return nil
}

// learnLimits asks how large batches may be. A broker that does not tell leaves message.max.bytes as it is.
func (p *Producer) learnLimits(ctx context.Context) error {
	const setting = "max.message.bytes"
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range p.all() {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, name, []string{setting}
		req.Resources = append(req.Resources, r)
	}
	answer, err := req.RequestWith(ctx, p.client)
	if err != nil {
		return err
	}
	for _, r := range answer.Resources {
		for _, c := range r.Configs {
			if c.Name != setting || c.Value == nil {
				continue
			}
			if n, err := strconv.ParseInt(*c.Value, 10, 32); err == nil {
				p.limits[r.ResourceName] = max(leastBytes, min(p.cfg.MaxBytes, int32(n)))
			}
		}
	}
	return nil
}

// denials are what Kafka says of a feed that may not do what it has to.
var denials = []error{
	kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed,
	kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.InvalidProducerEpoch, kerr.ProducerFenced,
}

// explain says of an error which setting it is about, and whether waiting helps.
func (p *Producer) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, final := errors.AsType[*FinalError](err); final {
		return err
	}
	brokers := strings.Join(p.cfg.Brokers, ",")
	_, untrusted := errors.AsType[x509.UnknownAuthorityError](err)
	_, misnamed := errors.AsType[x509.HostnameError](err)
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch):
		return fmt.Errorf("kafka transactions %q: another feed uses the same name, or a transaction took too long: %w", p.cfg.ID, err)
	case errors.Is(err, kerr.SaslAuthenticationFailed) || errors.Is(err, kerr.UnsupportedSaslMechanism):
		return &FinalError{fmt.Errorf("kafka_sasl_user=%s: kafka at %s refuses the user, the password or the mechanism %s: correct "+
			"kafka_sasl_user, kafka_sasl_password or kafka_sasl_mechanism: %w", p.cfg.User, brokers, p.cfg.SASL, err)}
	case slices.ContainsFunc(denials, func(d error) bool { return errors.Is(err, d) }):
		return &FinalError{fmt.Errorf("kafka_sasl_user=%s: kafka at %s does not let the feed write: give it WRITE and DESCRIBE of %s: %w",
			p.cfg.User, brokers, strings.Join(p.all(), ", "), err)}
	case untrusted || misnamed:
		return &FinalError{fmt.Errorf("kafka_brokers=%s: its certificate is not trusted: name its authority in kafka_tls_ca: %w", brokers, err)}
	case unknown:
		return fmt.Errorf("kafka_brokers=%s: no such host: correct it: %w", brokers, err)
	case ctx.Err() != nil && p.cfg.SASL != "":
		return fmt.Errorf("kafka_brokers=%s: %w; some brokers only hang up on a wrong kafka_sasl_user or kafka_sasl_password", brokers, context.Cause(ctx))
	case ctx.Err() != nil:
		return fmt.Errorf("kafka_brokers=%s: %w", brokers, context.Cause(ctx))
	}
	return fmt.Errorf("kafka_brokers=%s: %w", brokers, err)
}
