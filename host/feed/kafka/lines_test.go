package kafka

import (
	"strings"
	"testing"
)

func TestAStreamHasALineForEachRecord(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	var s Sink = Stream{Out: &out}
	if at, err := s.Open(t.Context()); at != nil || err != nil {
		t.Errorf("it opens at %q, %v; want nothing", at, err)
	}
	if err := s.Send(t.Context(), []Record{{Value: []byte("a")}, {Value: []byte("b")}}, nil); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := out.String(); got != "a\nb\n" {
		t.Errorf("%q was written, want two lines", got)
	}
}

func TestAFileThatCannotBeWrittenIsNamedByItsSetting(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := NewFile(folder).Open(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "sink_path="+folder+": ") {
		t.Errorf("err = %v, want one of sink_path", err)
	}
}
