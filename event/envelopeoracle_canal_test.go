package event_test

import (
	"encoding/json"
	"strings"

	"brine/event"
)

// canal returns the outcome of a record of Canal's.
func (o *envelopeOracle) canal(value json.RawMessage) string {
	record := o.row(value, []oracleColumn{{name: "ts_ms", typ: event.TimeMS}}, nil, "type", "data", "old")
	if !record.there {
		return rejectedRecord
	}
	kind, lists := record.text("type"), [2][]json.RawMessage{}
	for i, name := range []string{"data", "old"} {
		if raw := record.raw[name]; raw != nil && !isNull(raw) && (raw[0] != '[' || json.Unmarshal(raw, &lists[i]) != nil) {
			return rejectedRecord
		}
	}
	if record.bad {
		return rejectedRecord
	}
	var lines []string
	for i := range max(1, len(lists[0])) {
		var row, old oracleRow
		if i < len(lists[0]) {
			row = o.row(lists[0][i], o.columns, nil)
		}
		if i < len(lists[1]) {
			old = o.row(lists[1][i], o.columns, nil)
		}
		line := o.canalRow(kind, row, old, map[string]oracleCell{"ts": record.cells["ts_ms"]}, i)
		if line == rejectedRecord {
			return line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (o *envelopeOracle) canalRow(kind string, row, old oracleRow, ofEnvelope map[string]oracleCell, index int) string {
	switch {
	case row.bad || old.bad:
		return rejectedRecord
	case kind == "TRUNCATE":
		return "left out: truncate"
	case kind == "INSERT" || kind == "UPDATE" || kind == "DELETE":
		if !row.there || kind == "UPDATE" && !old.there {
			return rejectedRecord
		}
	case row.there || kind == "":
		return rejectedRecord
	default:
		return "left out: schema_change"
	}
	if kind == "DELETE" || !old.there {
		return o.shown(row.cells, nil, ofEnvelope, index, kind == "DELETE")
	}
	return o.shown(row.cells, before(old, row), ofEnvelope, index, false)
}
