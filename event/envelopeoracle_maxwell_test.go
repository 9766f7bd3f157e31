package event_test

import (
	"encoding/json"
	"strings"

	"brine/event"
)

// maxwell returns the outcome of a record of Maxwell's.
func (o *envelopeOracle) maxwell(value json.RawMessage) string {
	record := o.row(value, []oracleColumn{{name: "ts_ms", typ: event.TimeMS}}, nil, "type", "data", "old")
	if !record.there {
		return rejectedRecord
	}
	kind := record.text("type")
	old, row := o.row(record.raw["old"], o.columns, nil), o.row(record.raw["data"], o.columns, nil)
	if record.bad || old.bad || row.bad {
		return rejectedRecord
	}
	ofEnvelope := map[string]oracleCell{"ts": record.cells["ts_ms"]}
	switch {
	case kind == "bootstrap-start" || kind == "bootstrap-complete":
		return "left out: bootstrap"
	case strings.HasPrefix(kind, "table-") || strings.HasPrefix(kind, "database-"):
		return "left out: schema_change"
	case !row.there:
		return rejectedRecord
	case kind == "delete":
		return o.shown(row.cells, nil, ofEnvelope, 0, true)
	case kind == "update" && !old.there:
		return rejectedRecord
	case kind == "insert" || kind == "bootstrap-insert" || kind == "update":
		if old.there {
			return o.shown(row.cells, before(old, row), ofEnvelope, 0, false)
		}
		return o.shown(row.cells, nil, ofEnvelope, 0, false)
	}
	return rejectedRecord
}
