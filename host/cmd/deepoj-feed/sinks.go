package main

import (
	"io"
	"sync"

	"deepoj/host/feed/config"
)

// topicOf is the topic of changes.
func topicOf(k config.Kafka) string {
	if k.StreamMode == "single" {
		return k.TopicSingle
	}
	return k.TopicBinlog
}

// shared is a writer of several feeds: what one of them writes at once stays together.
type shared struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}
