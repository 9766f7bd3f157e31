package main

import (
	"errors"
	"fmt"
	"time"

	"brine/ingest"
)

// parseSpan reads the flags --from, --to and --partitions. Offsets name the partitions, unless they are named by themselves.
func parseSpan(from, to string, partitions []int) (ingest.Span, error) {
	begin, err1 := parsePosition("--from", from)
	end, err2 := parsePosition("--to", to)
	if err := errors.Join(err1, err2); err != nil {
		return ingest.Span{}, usage(err)
	}
	if end.String() == ingest.Earliest.String() {
		return ingest.Span{}, usage(errors.New("--to earliest: nothing comes before the earliest record; --to is latest, a time or offsets"))
	}
	if begin.String() == ingest.Latest.String() {
		return ingest.Span{}, usage(errors.New("--from latest: nothing comes after the latest record; --from is earliest, a time or offsets"))
	}
	return ingest.NewSpan(begin, end, partitions), nil
}

func parsePosition(flag, text string) (ingest.Position, error) {
	p, err := ingest.ParsePosition(text, time.Now())
	if err != nil {
		return p, fmt.Errorf("%s %q: %w", flag, text, err)
	}
	return p, nil
}
