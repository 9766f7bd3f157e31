package config

import (
	"encoding/json"
	"testing"
)

func TestProblemsAsJSON(t *testing.T) {
	_, problems := Parse("brine.yaml", []byte("kafka: { brokers: [a:1] }\npipelines: { p: 1 }\n"), environ("BRINE_MEMORY", "x"))
	got, err := json.Marshal(problems)
	const want = `[{"code":"type","severity":"error","env":"BRINE_MEMORY","setting":"memory","message":"its value is not a size","fix":"write memory: 64MiB"},` +
		`{"code":"type","severity":"error","file":"brine.yaml","line":2,"column":17,"setting":"pipelines.p","message":"is a single value, not a mapping of settings","fix":"write it as { topic: … }"}]`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestOnlyErrorsAreErrors(t *testing.T) {
	problems := Problems{{Severity: Warning, Message: "w"}, {Severity: Advice, Message: "a"}}
	if problems.Err() != nil || len(problems.Warnings()) != 1 {
		t.Errorf("err %v, warnings %v", problems.Err(), problems.Warnings())
	}
	problems = append(problems, Problem{Severity: Error, File: "f", Line: 1, Column: 2, Setting: "s", Message: "m", Fix: "n", Code: Type})
	if err := problems.Err(); err == nil || err.Error() != "f:1:2: s: m; n [type]" {
		t.Errorf("err %v", err)
	}
}
