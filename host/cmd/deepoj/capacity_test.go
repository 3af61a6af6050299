package main

import (
	"strings"
	"testing"
	"time"

	"deepoj/host/capacity"
	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

func TestALanguageIsMeasuredByItsExample(t *testing.T) {
	j := judgingtest.Get(t).Judge
	program := func(says string) []judge.Source {
		return []judge.Source{{Name: "hello.c", Text: "#include <stdio.h>\nint main(void) { puts(\"" + says + "\"); }\n"}}
	}
	figures, err := runHello(t.Context(), j, "c", program("hello"))
	if err != nil || len(figures) != 1 || figures[0].Name != "hello in c" || figures[0].Value <= 0 {
		t.Errorf("figures %+v, %v", figures, err)
	}
	if _, err := runHello(t.Context(), j, "c", program("goodbye")); err == nil || !strings.Contains(err.Error(), "its example got AC") {
		t.Errorf("an example that says something else: %v", err)
	}
}

func TestTheSandboxIsMeasuredAloneAndFull(t *testing.T) {
	agent := judgingtest.Get(t).Agent
	for range 2 { // the boxes were given back
		figures, err := capacity.Sandbox(t.Context(), agent, 20*time.Millisecond)
		if err != nil || len(figures) != min(2, agent.Slots()) {
			t.Fatalf("%+v, %v", figures, err)
		}
		for _, f := range figures {
			if !strings.HasPrefix(f.Name, "sandbox starts, ") || f.Value <= 0 {
				t.Errorf("%+v", f)
			}
		}
	}
}
