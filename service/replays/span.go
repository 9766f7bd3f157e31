package replays

import (
	"errors"
	"fmt"
	"time"

	"brine/ingest"
	"brine/internal/fault"
)

// Span parses --from, --to and --partitions. Offsets imply their partitions, unless --partitions is given.
func Span(from, to string, partitions []int, now time.Time) (ingest.Span, error) {
	begin, err1 := position("--from", from, now)
	end, err2 := position("--to", to, now)
	if err := errors.Join(err1, err2); err != nil {
		return ingest.Span{}, fault.Misused(err)
	}
	if end.String() == ingest.Earliest.String() {
		return ingest.Span{}, fault.Misused(errors.New("--to earliest: nothing comes before the earliest record; " +
			"--to is latest, a time or offsets"))
	}
	if begin.String() == ingest.Latest.String() {
		return ingest.Span{}, fault.Misused(errors.New("--from latest: nothing comes after the latest record; " +
			"--from is earliest, a time or offsets"))
	}
	span := ingest.NewSpan(begin, end, partitions)
	if err := span.Ordered(); err != nil {
		return ingest.Span{}, fault.Misused(err)
	}
	return span, nil
}

func position(flag, text string, now time.Time) (ingest.Position, error) {
	p, err := ingest.ParsePosition(text, now)
	if err != nil {
		return p, fmt.Errorf("%s %q: %w", flag, text, err)
	}
	return p, nil
}
