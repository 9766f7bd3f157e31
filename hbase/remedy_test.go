package hbase

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestMovedTo(t *testing.T) {
	for text, want := range map[string]place{
		"Region moved to: hostname=rs2.example port=16020 startCode=1700000000000. As of locationSeqNum=42.":                                       {"rs2.example:16020", 42},
		packagePrefix + "exceptions.RegionMovedException: Region moved to: hostname=10.0.0.1 port=1 startCode=2. As of locationSeqNum=-1.\n\tat x": {"10.0.0.1:1", -1},
		"Region moved to: hostname=rs2 port=x startCode=1. As of locationSeqNum=42.":                                                               {},
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
		return fmt.Errorf("wrapped: %w", &remoteError{class: class, doNotRetry: flag})
	}
	tests := []struct {
		name   string
		err    error
		remedy remedy
		kind   Kind
	}{
		{"known", remote(packagePrefix+"NotServingRegionException", false), relocate, Transient},
		{"known, but not to be retried", remote(packagePrefix+"RegionTooBusyException", true), isolate, Refused},
		{"scanner lost, flagged as its class is", remote(packagePrefix+"UnknownScannerException", true), reopen, Refused},
		{"unknown", remote("java.io.IOException", false), relocate, Transient},
		{"unknown, not to be retried", remote("java.io.IOException", true), isolate, Refused},
		{"connection", &connError{class: "connection", err: context.DeadlineExceeded}, reconnect, Transient},
		{"invalid response", fmt.Errorf("x: %w", errInvalidResponse), relocate, Transient},
		{"no table", fmt.Errorf("x: %w", ErrNoTable), giveUp, NoTable},
		{"closed", ErrClosed, giveUp, Transient},
	}
	for _, tt := range tests {
		if d := diagnose(tt.err); d.remedy != tt.remedy || d.kind != tt.kind {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, d.remedy, d.kind, tt.remedy, tt.kind)
		}
	}
}

// Rules that end in giving up must say as what.
func TestEveryRuleIsComplete(t *testing.T) {
	for class, r := range rules {
		if d := (diagnosis{rule: r}); d.final() && r.kind == 0 {
			t.Errorf("%s gives up without a kind", class)
		}
	}
}

func TestRetryReasonsAreAClosedSet(t *testing.T) {
	for class, want := range map[string]string{
		packagePrefix + "RegionTooBusyException":          "RegionTooBusyException",
		packagePrefix + "exceptions.RegionMovedException": "RegionMovedException",
		packagePrefix + "NewException":                    "other",
		"java.lang.OutOfMemoryError":                      "other",
		"connection":                                      "connection",
		"timeout":                                         "timeout",
		"invalid response":                                "invalid_response",
		"":                                                "other",
	} {
		if got := (RetryInfo{Class: class}).Reason(); got != want {
			t.Errorf("%q: %q, want %q", class, got, want)
		}
	}
}
