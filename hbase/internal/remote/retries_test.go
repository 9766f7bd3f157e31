package remote

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// Every failure that is retried is reported as one of the Retries.
func TestRetriesAreThoseThatAreReported(t *testing.T) {
	failures := []error{
		&ConnError{Class: "connection", Err: errors.New("cut")}, &ConnError{Class: "timeout", Err: context.DeadlineExceeded},
		ErrInvalid, ErrNoServer, ErrHole, ErrNoActiveMaster, ErrNoZnode, &Exception{Class: "com.example.NeverHeardOf"}, &Exception{Class: "com.example.NeverHeardOf", DoNotRetry: true},
	}
	for class := range rules {
		failures = append(failures, &Exception{Class: Package + class})
	}
	all := Retries()
	seen := map[Retry]bool{}
	for _, err := range failures {
		d := Diagnose(err)
		if d.Remedy == GiveUp {
			continue
		}
		r := Retry{Reason(d.Class), d.Remedy.String()}
		seen[r] = true
		if !slices.Contains(all, r) {
			t.Errorf("%v: %v is not among the retries", err, r)
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d retries, %d of them are ever reported: %v", len(all), len(seen), all)
	}
}
