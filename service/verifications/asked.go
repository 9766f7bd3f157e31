// Package verifications runs the verification of pipelines' halves that brine verify or an HTTP client asks for: it parses the request,
// opens the stores, determines what is expected, and fixes what differs. Package verify does the comparison.
//
// Errors name what was asked for by the command's flags.
package verifications

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/internal/fault"
	"brine/service/replays"
)

// Asked is a request for a verification. The zero value of a field means that it is not given.
type Asked struct {
	From, To    string // empty: earliest and latest
	Partitions  []int  // nil: those of the offsets, or else all
	Full        bool
	Sample      string // share of the rows, such as 1%; empty: all
	Ahead       bool
	Repair      bool
	DeleteExtra bool
	Rate        int // records per second read from each topic; 0: unlimited
	// AsConfigured judges all records by the current configuration, including those that arrived under another one.
	AsConfigured bool
	Temp         string // folder of the temporary file; empty: the system's

	span  ingest.Span
	share float64
}

// Check parses and validates the request.
func (a *Asked) Check(now time.Time) (err error) {
	from, to := cmp.Or(a.From, "earliest"), cmp.Or(a.To, "latest")
	if a.span, err = replays.Span(from, to, a.Partitions, now); err != nil {
		return err
	}
	text, percent := strings.CutSuffix(strings.TrimSpace(cmp.Or(a.Sample, "100%")), "%")
	a.share, err = strconv.ParseFloat(text, 64)
	if percent {
		a.share /= 100
	}
	switch {
	case err != nil || !(a.share > 0 && a.share <= 1): // also rejects NaN
		err = fmt.Errorf("--sample %q: write a share of the rows, such as 1%%", a.Sample)
	case a.Full && !a.Whole():
		err = errors.New("--full covers everything in the topics; remove --from, --to and --partitions")
	case a.DeleteExtra && !a.Full:
		err = errors.New("--delete-extra: only --full finds what is extra")
	case a.DeleteExtra && a.share < 1:
		err = errors.New("--delete-extra: all rows must be read before any is deleted; remove --sample")
	case a.Rate < 0:
		err = errors.New("--rate must be at least 0")
	case a.Temp != "":
		if _, err = os.Stat(a.Temp); err != nil {
			err = fmt.Errorf("--temp: %w", err)
		}
	}
	if err != nil {
		return fault.Misused(err)
	}
	return nil
}

// Whole reports whether the request covers all of the topics.
func (a *Asked) Whole() bool {
	return cmp.Or(a.From, "earliest") == "earliest" && cmp.Or(a.To, "latest") == "latest" && a.Partitions == nil
}

// Halves returns the halves of a pipeline (empty: any) and kind (empty: both).
func Halves(cfg *config.Config, pipeline, kind string) ([]config.Half, error) {
	halves := slices.DeleteFunc(cfg.Halves(), func(h config.Half) bool {
		return pipeline != "" && pipeline != h.Pipeline.Name || kind != "" && kind != h.Kind
	})
	if len(halves) == 0 {
		return nil, fault.Misused(fmt.Errorf("--half %s: no selected pipeline writes %[1]s", kind))
	}
	return halves, nil
}
