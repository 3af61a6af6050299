package scheduler

import (
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
)

func TestFiguresOfSlotsAreThoseOfTheSlotsThatThereAre(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	g, err := newSlotGauges(reg)
	if err != nil {
		t.Fatal(err)
	}
	figures := func() (all []string) {
		t.Helper()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				all = append(all, fmt.Sprintf("%s{%s} %g", f.GetName(), m.GetLabel()[0].GetValue(), m.GetGauge().GetValue()))
			}
		}
		return all
	}
	g.set([]judge.Slot{{Name: "a", Active: true, Behind: 2, Retained: 3}, {Name: "b", Behind: 20, Retained: 30, Room: new(int64(40))}})
	want := []string{
		"feed_slot_active{a} 1", "feed_slot_active{b} 0", "feed_slot_behind_bytes{a} 2", "feed_slot_behind_bytes{b} 20",
		"feed_slot_retained_bytes{a} 3", "feed_slot_retained_bytes{b} 30", "feed_slot_room_bytes{b} 40",
	}
	if got := figures(); !slices.Equal(got, want) {
		t.Errorf("the figures are %v, want %v", got, want)
	}
	g.set([]judge.Slot{{Name: "b", Active: true}})
	if got, want := figures(), []string{"feed_slot_active{b} 1", "feed_slot_behind_bytes{b} 0", "feed_slot_retained_bytes{b} 0"}; !slices.Equal(got, want) {
		t.Errorf("without a the figures are %v, want %v", got, want)
	}
}
