package simulate

import (
	"fmt"
	"strings"
	"time"

	"brine/config"
	"brine/ingest"
)

// settings are the part of a process's configuration that faults change. They are applied as configuration text, so that brine itself
// decides what it takes for another value to count.
type settings struct {
	stall            time.Duration // takes effect at once
	window, maxBatch int           // like the next three, takes effect only after what runs has drained
	autoflush        bool
	linger           time.Duration
	protocol         ingest.GroupProtocol
	filter           filter // what was written before stays as it is
	retries          int    // for the whole process
	salt             int    // of row keys; cannot change
}

// filter decides which events are written: it is an index of filters.
type filter int

// filters are stations: a SIGN is kept only if its station sorts before them; "": everything is kept.
var filters = [...]string{"", "S10", "S20", "S30", "S35"}

const usual filter = 3 // of a pipeline with a filter that nobody has changed

// when returns the filter as the pipeline has it.
func (f filter) when() string { return fmt.Sprintf(`action != "SIGN" || station < %q`, filters[f]) }

// keeps returns the same in Go. A tombstone has no station, so the filter does not apply to it.
func (f filter) keeps(s *scan) bool {
	return f == 0 || s.Action != "SIGN" || s.Station < filters[f] || s.Gone
}

// some is a set of filters.
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

// settings returns the initial settings of a plan's processes.
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

// half is the name of what a process runs, and pipeline the name of its pipeline, as in the configuration.
const (
	pipeline = "scans"
	half     = pipeline + ".rows"
)

// config returns the configuration with these settings.
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
