package event_test

import (
	"encoding/json"
	"slices"
	"strings"

	"brine/event"
)

// debezium returns the outcome of a record of Debezium's.
func (o *envelopeOracle) debezium(value []byte) string {
	none := "left out: tombstone"
	if o.unwrapped() && !o.schema.Envelope.MarkedDeletes {
		none = rejectedRecord
	}
	members, _ := oracleObject(value)
	var schema *oracleType
	if wrapped, known, bad := oracleWrapped(members); bad {
		return rejectedRecord
	} else if wrapped != nil {
		switch {
		case isNull(wrapped):
			return none
		case !isNull(known) && json.Unmarshal(known, &schema) != nil:
			return rejectedRecord
		}
		value = wrapped
	} else if isNull(value) && o.unwrapped() {
		return none
	}
	if members, _ = oracleObject(value); schema != nil {
		if own := o.ownByName(schema.Name); own != "" {
			return "left out: " + own
		}
	}
	read := o.change
	if o.unwrapped() {
		read = o.bareRow
	}
	said := read(value, schema)
	if own := o.own(members); own != "" && (said == rejectedRecord || o.unwrapped()) {
		return "left out: " + own
	}
	return said
}

// oracleWrapped returns the payload and the schema of a record that is made of these two.
func oracleWrapped(members []oracleMember) (payload, schema json.RawMessage, bad bool) {
	for _, m := range members {
		part := &schema
		switch {
		case m.name == "payload":
			part = &payload
		case m.name == "schema":
		case payload != nil && schema != nil: // a row of these columns, unless both could be parts of a wrapped one
			_, object := oracleObject(schema)
			_, full := oracleObject(payload)
			return nil, nil, (object || isNull(schema)) && (full || isNull(payload)) && (object || full)
		default:
			return nil, nil, false
		}
		if *part != nil {
			return nil, nil, true
		}
		*part = m.raw
	}
	if payload == nil || schema == nil {
		return nil, nil, false
	}
	return payload, schema, false
}

func (o *envelopeOracle) ownByName(schema string) string {
	name, ok := strings.CutPrefix(schema, "io.debezium.connector.")
	parts := strings.Split(name, ".")
	if !ok {
		return ""
	}
	return map[string]string{"Heartbeat": "heartbeat", "SchemaChangeValue": "schema_change", "TransactionMetadataValue": "transaction"}[parts[len(parts)-1]]
}

// own returns what a record with these members is if it is one of Debezium's own.
func (o *envelopeOracle) own(members []oracleMember) string {
	has, objects := map[string]string{}, map[string]bool{}
	for _, m := range members {
		has[m.name] = string(m.raw)
		var list []json.RawMessage
		isList := m.raw[0] == '[' && json.Unmarshal(m.raw, &list) == nil && (len(list) == 0 || list[0][0] == '{')
		objects[m.name] = isList || m.raw[0] == '{' || isNull(m.raw)
	}
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := has[name]; return !ok })
	}
	only := func(names ...string) bool {
		for name := range has {
			if !slices.Contains(names, name) && (o.unwrapped() || slices.Contains([]string{"op", "before", "after"}, name)) {
				return false
			}
		}
		return true
	}
	column := slices.ContainsFunc(o.columns, func(c oracleColumn) bool { return c.name == "ts_ms" })
	_, changes := has["tableChanges"]
	switch {
	case all("ts_ms") && len(has) == 1 && !column:
		return "heartbeat"
	case all("source", "databaseName", "ddl") && objects["source"] && (!changes || objects["tableChanges"]) &&
		only("source", "ts_ms", "databaseName", "schemaName", "ddl", "tableChanges"):
		return "schema_change"
	case all("status", "id", "event_count", "data_collections") && objects["data_collections"] && (has["status"] == `"BEGIN"` || has["status"] == `"END"`) &&
		only("status", "id", "event_count", "data_collections", "ts_ms"):
		return "transaction"
	}
	return ""
}

// change returns the outcome of a change in Debezium's envelope, and rejects all else.
func (o *envelopeOracle) change(value json.RawMessage, t *oracleType) string {
	ts := oracleColumn{name: "ts_ms", typ: event.TimeMS}
	op := oracleColumn{name: "op", typ: event.Text}
	record := o.row(value, []oracleColumn{ts, op}, t, "before", "after")
	if !record.there {
		return rejectedRecord
	}
	formerly := o.columns
	if o.keys != nil {
		formerly = slices.DeleteFunc(slices.Clone(o.columns), func(c oracleColumn) bool { return !slices.Contains(o.keys, c.name) })
	}
	old, row := o.row(record.raw["before"], formerly, t.field("before")), o.row(record.raw["after"], o.columns, t.field("after"))
	switch {
	case record.bad || old.bad || row.bad:
		return rejectedRecord
	case record.skip || old.skip || row.skip:
		return unjudgedRecord
	}
	ofEnvelope := map[string]oracleCell{"ts": record.cells["ts_ms"]}
	kind := string(record.cells["op"].value.Text())
	switch kind {
	case "t":
		return "left out: truncate"
	case "m":
		return "left out: message"
	case "d":
		switch {
		case !old.there:
			return rejectedRecord
		case row.there:
			return o.shown(o.recalled(row, old).cells, nil, ofEnvelope, 0, true)
		}
		return o.shown(old.cells, nil, ofEnvelope, 0, true)
	case "c", "r", "u":
		if !row.there || kind == "u" && o.keys == nil && !old.there {
			return rejectedRecord
		}
		return o.written(o.recalled(row, old), old, ofEnvelope, kind != "u")
	}
	return rejectedRecord
}

// recalled takes what was not sent from the before-image, if that is whole.
func (o *envelopeOracle) recalled(row, old oracleRow) oracleRow {
	for name, cell := range row.cells {
		if was, ok := old.cells[name]; cell.lacking && ok && !was.lacking && o.keys == nil {
			row.cells[name] = was
		}
	}
	return row
}

// written returns the outcome of a change that is not a delete.
func (o *envelopeOracle) written(row, old oracleRow, ofEnvelope map[string]oracleCell, created bool) string {
	whole := o.keys == nil && old.there
	for name, cell := range row.cells {
		was, known := old.cells[name]
		if cell.lacking && (!o.partial || created) || whole && !cell.lacking && (!known || was.lacking) {
			return rejectedRecord
		}
	}
	if !whole {
		return o.shown(row.cells, nil, ofEnvelope, 0, false)
	}
	return o.shown(row.cells, before(old, row), ofEnvelope, 0, false)
}

// bareRow returns the outcome of a row that ExtractNewRecordState has unwrapped.
func (o *envelopeOracle) bareRow(value json.RawMessage, t *oracleType) string {
	ts := oracleColumn{name: "__ts_ms", typ: event.TimeMS, texts: true}
	op, deleted := oracleColumn{name: "__op", typ: event.Text}, oracleColumn{name: "__deleted", typ: event.Text}
	row := o.row(value, append(slices.Clone(o.columns), ts, op, deleted), t, "ddl", "data_collections", "ts_ms")
	switch {
	case !row.there || row.bad:
		return rejectedRecord
	case row.skip:
		return unjudgedRecord
	}
	ofEnvelope, kind := map[string]oracleCell{"ts": row.cells["__ts_ms"]}, string(row.cells["__op"].value.Text())
	if kind == "d" || string(row.cells["__deleted"].value.Text()) == "true" {
		return o.shown(row.cells, nil, ofEnvelope, 0, true)
	}
	return o.written(row, oracleRow{}, ofEnvelope, kind == "c")
}
