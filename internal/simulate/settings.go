package simulate

import (
	"fmt"
	"strings"
	"time"

	"brine/config"
	"brine/ingest"
)

// settings are what a process is configured with, as far as faults change it. They are written as people write them, so that brine says
// what it takes for another value to count.
type settings struct {
	stall            time.Duration // it counts at once
	window, maxBatch int           // for these and the next three, what runs has to drain
	autoflush        bool
	linger           time.Duration
	protocol         ingest.GroupProtocol
	filter           filter // what was written before stays as it is
	retries          int    // of the whole process
	salt             int    // of row keys, which cannot change
}

// filter is what decides which events are written: one of filters.
type filter int

// filters are the stations, of which one that comes before it is kept also of a SIGN; "": everything is kept.
var filters = [...]string{"", "S10", "S20", "S30", "S35"}

const usual filter = 3 // of a pipeline with a filter that nobody has changed

// when is the filter as the pipeline has it.
func (f filter) when() string { return fmt.Sprintf(`action != "SIGN" || station < %q`, filters[f]) }

// keeps is the same in Go. A tombstone has no station, so that it is not asked.
func (f filter) keeps(s *scan) bool {
	return f == 0 || s.Action != "SIGN" || s.Station < filters[f] || s.Gone
}

// some are several filters.
type some uint8

func (s some) with(f filter) some { return s | 1<<f }

// keep reports whether any of them keeps a scan.
func (s some) keep(of *scan) bool {
	for f := range filter(len(filters)) {
		if s&(1<<f) != 0 && f.keeps(of) {
			return true
		}
	}
	return false
}

// settings are those that the processes of a plan begin with.
func (p *Plan) settings() settings {
	s := settings{stall: 5 * time.Minute, window: p.Window, maxBatch: p.MaxBatch, autoflush: p.Autoflush, linger: 50 * time.Millisecond,
		protocol: ingest.Classic, retries: p.Retries, salt: 2}
	if p.Filter {
		s.filter = usual
	}
	if p.Protocol == byBrokers {
		s.protocol = ingest.Consumer
	}
	return s
}

// half is the name of what a process runs, and pipeline that of its pipeline, as the configuration has them.
const (
	pipeline = "scans"
	half     = pipeline + ".rows"
)

// config is the configuration that says so.
func (s *settings) config() (*config.Config, error) {
	when := ""
	if s.filter != 0 {
		when = "\n    when: '" + s.filter.when() + "'"
	}
	text := fmt.Sprintf(`
kafka: { brokers: ["broker:9092"], group: brine, group_protocol: %s }
hbase: { connect: "rpc://hbase:16000", retries: %d }
http: { stall: %v }
tables:
  scans: { row: event, key: '%s', families: { e: {} } }
pipelines:
  %s:
    topic: %s
    fields: { waybill: text, at: time_ms, action: text, station: text, id: text, note: text }
    version: at%s
    read: { window: %d, max_batch_records: %d }
    write: { autoflush: %v, linger: %v }
    rows: [ { table: scans, set: { "e:i": id, "e:s": station, "e:n": note } } ]
`, s.protocol, s.retries, s.stall, strings.Replace(scansKey, "2", fmt.Sprint(s.salt), 1), pipeline, topic, when, s.window, s.maxBatch,
		s.autoflush, s.linger)
	cfg, problems := config.Parse("brine.yaml", []byte(text), func(string) (string, bool) { return "", false })
	return cfg, problems.Err()
}
