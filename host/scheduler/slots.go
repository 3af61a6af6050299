package scheduler

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
)

// slotGauges are figures of the replication slots of change feeds. The server has them, also while no feed runs.
type slotGauges struct{ active, retained, behind, room *prometheus.GaugeVec }

func newSlotGauges(reg prometheus.Registerer) (g slotGauges, err error) {
	var errs [4]error
	for i, one := range []struct {
		gauge      **prometheus.GaugeVec
		name, help string
	}{
		{&g.active, "feed_slot_active", "Whether a change feed is connected to its replication slot."},
		{&g.retained, "feed_slot_retained_bytes", "Bytes of its log that PostgreSQL keeps because of the replication slot."},
		{&g.behind, "feed_slot_behind_bytes", "Bytes from what the change feed has confirmed to the end of PostgreSQL's log."},
		{&g.room, "feed_slot_room_bytes", "Bytes that PostgreSQL may write until the replication slot is lost; absent without a bound."},
	} {
		*one.gauge, errs[i] = telemetry.Register(reg, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: one.name, Help: one.help}, []string{"slot"}))
	}
	return g, errors.Join(errs[:]...)
}

// set tells of the slots that there are, and forgets those that are gone.
func (g slotGauges) set(slots []judge.Slot) {
	for _, v := range []*prometheus.GaugeVec{g.active, g.retained, g.behind, g.room} {
		v.Reset()
	}
	for _, s := range slots {
		active := 0.0
		if s.Active {
			active = 1
		}
		g.active.WithLabelValues(s.Name).Set(active)
		g.retained.WithLabelValues(s.Name).Set(float64(s.Retained))
		g.behind.WithLabelValues(s.Name).Set(float64(s.Behind))
		if s.Room != nil {
			g.room.WithLabelValues(s.Name).Set(float64(*s.Room))
		}
	}
}
