package feed

import (
	"github.com/prometheus/client_golang/prometheus"
)

var _ prometheus.Collector = (*Feed)(nil)

// figure is a metric without labels.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*Status) float64
}

func gauge(name, help string, of func(*Status) float64) figure {
	return figure{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, of}
}

func counter(name, help string, of func(*Status) float64) figure {
	return figure{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, of}
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var (
	stateDesc  = prometheus.NewDesc("feed_state", "1 for the state that the feed is in, and 0 for the others.", []string{"state"}, nil)
	behindDesc = prometheus.NewDesc("feed_source_behind", "How much the source keeps for the feed, where that is known.", []string{"unit"}, nil)

	figures = []figure{
		gauge("feed_epoch", "Generation of the session with the source.", func(s *Status) float64 { return float64(s.Epoch) }),
		gauge("feed_durable_seq", "Number of the last record that is durable in the write-ahead log.", func(s *Status) float64 { return float64(s.Durable.Seq) }),
		gauge("feed_ack_seq", "Number of the last record that the sink has acknowledged, with all before it.", func(s *Status) float64 { return float64(s.Ack.Seq) }),
		gauge("feed_snapshot_seq", "Number of the last record of the newest snapshot that the sink has acknowledged.", func(s *Status) float64 { return float64(s.Snapshot.SnapshotSeq) }),
		gauge("feed_lag_records", "Records in the write-ahead log that the sink does not have.", func(s *Status) float64 { return float64(s.LagRecords) }),
		gauge("feed_lag_seconds", "How long the oldest of them has been there.", func(s *Status) float64 { return s.LagSeconds }),
		gauge("feed_wal_bytes", "Size of the write-ahead log.", func(s *Status) float64 { return float64(s.WAL.Bytes) }),
		gauge("feed_wal_max_bytes", "Size of the write-ahead log past which receiving stops; 0 means as large as the disk.", func(s *Status) float64 { return float64(s.WAL.MaxBytes) }),
		gauge("feed_wal_full", "1 while receiving stands still because the write-ahead log is full.", func(s *Status) float64 { return yes(s.WAL.FullSince != nil) }),
		gauge("feed_source_up", "1 while a session with the source is open.", func(s *Status) float64 { return yes(s.Source.Up) }),
		gauge("feed_sink_up", "1 while the sink takes what it is sent.", func(s *Status) float64 { return yes(s.Sink.Up) }),
		counter("feed_sessions_total", "Sessions with the source that were opened.", func(s *Status) float64 { return float64(s.Source.Sessions) }),
		counter("feed_sink_errors_total", "Batches that the sink did not take, and times that it was not reached.", func(s *Status) float64 { return float64(s.Sink.Errors) }),
		counter("feed_received_records_total", "Records that the source has sent.", func(s *Status) float64 { return float64(s.Counts.Received) }),
		counter("feed_received_bytes_total", "Bytes of them.", func(s *Status) float64 { return float64(s.Counts.ReceivedBytes) }),
		counter("feed_delivered_records_total", "Records that the sink has acknowledged, without those of snapshots.", func(s *Status) float64 { return float64(s.Counts.Delivered) }),
		counter("feed_filtered_records_total", "Records that nobody gets: the filter drops them, or they are marks.", func(s *Status) float64 { return float64(s.Counts.Filtered) }),
		counter("feed_superseded_records_total", "Records that a newer snapshot made needless.", func(s *Status) float64 { return float64(s.Counts.Superseded) }),
		counter("feed_snapshot_read_records_total", "Records of snapshots that were read.", func(s *Status) float64 { return float64(s.Counts.SnapshotRead) }),
		counter("feed_snapshot_delivered_records_total", "Records of snapshots that the sink has acknowledged.", func(s *Status) float64 { return float64(s.Counts.SnapshotDelivered) }),
		counter("feed_dead_letters_total", "Records that were too large for their topic.", func(s *Status) float64 { return float64(s.Counts.DeadLetters) }),
	}
)

// Describe implements [prometheus.Collector].
func (f *Feed) Describe(ch chan<- *prometheus.Desc) {
	ch <- stateDesc
	ch <- behindDesc
	for _, m := range figures {
		ch <- m.desc
	}
}

// Collect implements [prometheus.Collector]: the figures are those of [Feed.Status].
func (f *Feed) Collect(ch chan<- prometheus.Metric) {
	s := f.Status()
	for _, state := range States() {
		ch <- prometheus.MustNewConstMetric(stateDesc, prometheus.GaugeValue, yes(s.State == state), string(state))
	}
	if s.Source.Behind != nil {
		ch <- prometheus.MustNewConstMetric(behindDesc, prometheus.GaugeValue, float64(*s.Source.Behind), s.Source.Unit)
	}
	for _, m := range figures {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(&s))
	}
}
