package site

import (
	"fmt"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
)

func TestALanguageIsOpenIfAWorkerServesItOrOnceDid(t *testing.T) {
	t.Parallel()
	cpp := judge.Language{ID: "cpp", Name: "C++", Available: true}
	broken := judge.Language{ID: "cpp", Name: "C++", Unavailable: "g++ was not found"}
	listed := func(l judge.Language, withdrawn bool) []sql.OfferedLanguage {
		return []sql.OfferedLanguage{{Language: l, Withdrawn: withdrawn}}
	}
	unfit := judge.WorkerInfo{Unfit: "disk", Languages: []judge.Language{cpp}}
	for name, tt := range map[string]struct {
		workers []judge.WorkerInfo
		known   []sql.OfferedLanguage
		reason  judge.Reason
		waits   string // part of what a program waits for
	}{
		"one of two has it":                {[]judge.WorkerInfo{{Languages: []judge.Language{broken}}, {Languages: []judge.Language{cpp}}}, nil, "", ""},
		"in the other order":               {[]judge.WorkerInfo{{Languages: []judge.Language{cpp}}, {Languages: []judge.Language{broken}}}, nil, "", ""},
		"nobody ever had it":               {[]judge.WorkerInfo{{Languages: []judge.Language{broken}}}, nil, ReasonUnavailable, ""},
		"the only one has lost it":         {[]judge.WorkerInfo{{Languages: []judge.Language{broken}}}, listed(cpp, false), "", "No worker is running that has C++"},
		"nobody lives":                     {nil, listed(cpp, false), "", "No worker is running that has C++"},
		"whoever has it takes no jobs":     {[]judge.WorkerInfo{unfit}, listed(cpp, false), "", "take no jobs"},
		"one of those who have it is well": {[]judge.WorkerInfo{unfit, {Languages: []judge.Language{cpp}}}, listed(cpp, false), "", ""},
		"staff took it off":                {[]judge.WorkerInfo{{Languages: []judge.Language{cpp}}}, listed(cpp, true), ReasonWithdrawn, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			offers := offersOf(tt.workers, tt.known)
			if len(offers) != 1 || offers[0].ID != "cpp" || offers[0].Reason != tt.reason || (tt.waits == "") != (offers[0].Waits.Key == "") || !strings.Contains(offers[0].Waits.String(), tt.waits) {
				t.Fatalf("got %+v", offers)
			}
			if !offers[0].Open() && !strings.HasSuffix(offers[0].Why.String(), ".") {
				t.Errorf("the reason %q is no sentence", offers[0].Why)
			}
		})
	}
}

func TestTheLanguagesPageShowsWhereWorkersDiffer(t *testing.T) {
	t.Parallel()
	gcc := func(version string) judge.WorkerInfo {
		return judge.WorkerInfo{Languages: []judge.Language{{ID: "cpp", Name: "C++", Version: version, Command: "g++", Available: true}}}
	}
	broken := judge.WorkerInfo{Languages: []judge.Language{{ID: "cpp", Name: "C++", Unavailable: "no g++"}}}
	offers := offersOf([]judge.WorkerInfo{broken, gcc("12"), gcc("13"), broken, gcc("12")}, nil)
	if len(offers) != 1 || !offers[0].Open() || fmt.Sprint(offers[0].Builds) != "[{12  g++ 2} {13  g++ 1}]" {
		t.Errorf("offers: %+v", offers)
	}
	if offers := offersOf([]judge.WorkerInfo{broken}, nil); offers[0].Open() || len(offers[0].Builds) > 0 {
		t.Errorf("offers without a tool chain: %+v", offers)
	}
}
