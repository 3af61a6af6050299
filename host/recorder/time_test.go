package recorder_test

import (
	"encoding/json"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

func TestAFreezeIsToldThoughSomethingIsHandedInAtThatMoment(t *testing.T) {
	g := newStage(t)
	g.submit(0, "aplusb")
	g.record()
	now := sqltest.One[time.Time](t, g.s, "SELECT now()")
	g.act("update", func(r judge.Round, _ time.Time) (judge.Round, error) {
		r.Freeze = new(now.Add(200 * time.Millisecond).Sub(*r.Start).Truncate(time.Millisecond))
		return r, nil
	})
	g.record()
	for sqltest.One[bool](t, g.s, "SELECT wake_at > now() FROM contest_recorders") {
		time.Sleep(10 * time.Millisecond)
	}
	g.submit(0, "other")
	g.record()
	var told contest.RoundData
	for _, l := range g.log() {
		if contest.Kind(l.Kind) == contest.KindRound {
			sqltest.Must(t, json.Unmarshal(l.Data, &told))
		}
	}
	if told.Frozen == nil {
		t.Error("the freeze was passed over")
	}
}
