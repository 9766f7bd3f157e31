package hbase

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// Whatever fails and is tried again is told as one of the Retries.
func TestRetriesAreThoseThatAreTold(t *testing.T) {
	failures := []error{
		&connError{class: "connection", err: errors.New("cut")}, &connError{class: "timeout", err: context.DeadlineExceeded},
		errInvalidResponse, errNoServer, errHole, errNoActiveMaster, errNoZnode, &remoteError{class: "com.example.NeverHeardOf"}, &remoteError{class: "com.example.NeverHeardOf", doNotRetry: true},
	}
	for class := range rules {
		failures = append(failures, &remoteError{class: packagePrefix + class})
	}
	all := Retries()
	told := map[Retry]bool{}
	for _, err := range failures {
		d := diagnose(err)
		if d.remedy == giveUp {
			continue
		}
		info := retryInfo("t", nil, d, time.Second, 1, 1, nil)
		r := Retry{info.Reason(), info.Remedy}
		told[r] = true
		if !slices.Contains(all, r) {
			t.Errorf("%v: %v is not among the retries", err, r)
		}
	}
	if len(told) != len(all) {
		t.Errorf("%d retries, %d of them are ever told: %v", len(all), len(told), all)
	}
}
