package letters

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/ingest/deadletter"
	"brine/internal/fault"
	"brine/internal/when"
	"brine/rowkey"
)

// Asked selects dead letters, apart from the pipeline and its half. Errors name its fields as the commands' flags.
type Asked struct {
	Reasons      []string
	Since, Until string // times, or how long ago; empty: unbounded
	Partitions   []int  // of the records' original topic
	Key          *string
	Text         string
	All          bool // include those already replayed
}

// Filter parses the selection.
func (a *Asked) Filter(now time.Time) (out deadletter.Filter, err error) {
	out = deadletter.Filter{Partitions: a.Partitions, Text: a.Text, Replayed: a.All}
	if out.Since, err = Moment("--since", a.Since, now); err != nil {
		return out, err
	}
	if out.Until, err = Moment("--until", a.Until, now); err != nil {
		return out, err
	}
	for _, reason := range a.Reasons {
		if !slices.Contains(event.Rejects, event.Reason(reason)) {
			return out, fault.Misused(fmt.Errorf("--reason %q: no record is rejected for that reason; valid reasons are %s", reason,
				rejectReasons()))
		}
		out.Reasons = append(out.Reasons, event.Reason(reason))
	}
	if a.Key != nil {
		if out.Key, err = rowkey.ParseBinary(*a.Key); err != nil {
			return out, fault.Misused(fmt.Errorf("--key: %w", err))
		}
	}
	return out, nil
}

func rejectReasons() string {
	var all []string
	for _, reason := range event.Rejects {
		all = append(all, string(reason))
	}
	return strings.Join(all, ", ")
}

// Moment parses a time, or how long ago; empty is the zero time.
func Moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := when.Time(text, now)
	if err != nil {
		return t, fault.Misused(fmt.Errorf("%s: %w", flag, err))
	}
	return t, nil
}

// Before parses --older-than.
func Before(text string, now time.Time) (time.Time, error) {
	before, err := Moment("--older-than", text, now)
	if err == nil && !before.Before(now) {
		err = fault.Misused(fmt.Errorf("--older-than %q: that is in the future", text))
	}
	return before, err
}
