package remote

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestMovedTo(t *testing.T) {
	for text, want := range map[string]Location{
		"Region moved to: hostname=rs2.example port=16020 startCode=1700000000000. As of locationSeqNum=42.":                                 {"rs2.example:16020", 42},
		Package + "exceptions.RegionMovedException: Region moved to: hostname=10.0.0.1 port=1 startCode=2. As of locationSeqNum=-1.\n\tat x": {"10.0.0.1:1", -1},
		"Region moved to: hostname=rs2 port=x startCode=1. As of locationSeqNum=42.":                                                         {},
		"Region moved to: hostname=": {},
		"":                           {},
	} {
		if got := movedTo(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestThrottleWait(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"number of requests exceeded - wait 0ms":                         0,
		"number of requests exceeded - wait 250ms":                       250 * time.Millisecond,
		"read size limit exceeded - wait 1sec, 5ms":                      1005 * time.Millisecond,
		"write size limit exceeded - wait 2hrs, 1min, 3sec, 4ms\n\tat x": 2*time.Hour + time.Minute + 3*time.Second + 4*time.Millisecond,
		"wait": 0,
	} {
		if got := throttleWait(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestDiagnose(t *testing.T) {
	remote := func(class string, flag bool) error {
		return fmt.Errorf("wrapped: %w", &Exception{Class: class, DoNotRetry: flag})
	}
	tests := []struct {
		name   string
		err    error
		remedy Remedy
		kind   Kind
	}{
		{"known", remote(Package+"NotServingRegionException", false), Relocate, Transient},
		{"known, but not to be retried", remote(Package+"RegionTooBusyException", true), Isolate, Refused},
		{"scanner lost, flagged as its class is", remote(Package+"UnknownScannerException", true), Reopen, Refused},
		{"unknown", remote("java.io.IOException", false), Relocate, Transient},
		{"unknown, not to be retried", remote("java.io.IOException", true), Isolate, Refused},
		{"connection", &ConnError{Class: "connection", Err: context.DeadlineExceeded}, Reconnect, Transient},
		{"invalid response", fmt.Errorf("x: %w", ErrInvalid), Relocate, Transient},
		{"no table", fmt.Errorf("x: %w", ErrNoTable), GiveUp, NoTable},
		{"closed", ErrClosed, GiveUp, Transient},
	}
	for _, tt := range tests {
		if d := Diagnose(tt.err); d.Remedy != tt.remedy || d.Kind != tt.kind {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, d.Remedy, d.Kind, tt.remedy, tt.kind)
		}
	}
}

// Rules that end in giving up must have a kind.
func TestEveryRuleIsComplete(t *testing.T) {
	for class, r := range rules {
		if d := (Diagnosis{rule: r}); d.Final() && r.Kind == 0 {
			t.Errorf("%s gives up without a kind", class)
		}
	}
}

func TestRetryReasonsAreAClosedSet(t *testing.T) {
	for class, want := range map[string]string{
		Package + "RegionTooBusyException":          "RegionTooBusyException",
		Package + "exceptions.RegionMovedException": "RegionMovedException",
		Package + "NewException":                    "other",
		"java.lang.OutOfMemoryError":                "other",
		"connection":                                "connection",
		"timeout":                                   "timeout",
		"invalid response":                          "invalid_response",
		"":                                          "other",
	} {
		if got := Reason(class); got != want {
			t.Errorf("%q: %q, want %q", class, got, want)
		}
	}
}
