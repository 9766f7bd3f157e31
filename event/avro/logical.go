package avro

import "brine/event"

// logical is the meaning of a value beyond its bytes.
type logical uint8

const (
	plain logical = iota
	decimal
	variable // a record of a scale and a decimal's bytes, which Debezium writes for columns of decimals without a scale
	uuid
	timeOfDay
	days
	milliseconds
	microseconds
	nanoseconds
)

// units are the units of the logical types that are times.
var units = [...]event.Unit{days: event.Days, milliseconds: event.Milliseconds, microseconds: event.Microseconds,
	nanoseconds: event.Nanoseconds}

// unit returns 0 for a logical type that is not a time.
func (l logical) unit() event.Unit { return units[l] }

var logicals = map[string]logical{
	"date": days, "time-millis": timeOfDay, "time-micros": timeOfDay,
	"timestamp-millis": milliseconds, "timestamp-micros": microseconds, "timestamp-nanos": nanoseconds,
	"local-timestamp-millis": milliseconds, "local-timestamp-micros": microseconds, "local-timestamp-nanos": nanoseconds,
}

// connects are the names that Kafka Connect and Debezium write instead of a logical type.
var connects = map[string]logical{
	"io.debezium.time.Date": days, "io.debezium.time.Timestamp": milliseconds,
	"io.debezium.time.MicroTimestamp": microseconds, "io.debezium.time.NanoTimestamp": nanoseconds,
	"io.debezium.time.Time": timeOfDay, "io.debezium.time.MicroTime": timeOfDay, "io.debezium.time.NanoTime": timeOfDay,
	"org.apache.kafka.connect.data.Date": days, "org.apache.kafka.connect.data.Timestamp": milliseconds,
	"org.apache.kafka.connect.data.Time": timeOfDay,
}

// setLogical sets the logical type if the type's kind can have it. As Avro specifies, it ignores any other.
func (t *typ) setLogical(name, connect string) {
	switch t.kind {
	case integer, long:
		if t.logical = logicals[name]; t.logical == plain {
			t.logical = connects[connect]
		}
	case bytes:
		if name == "decimal" {
			t.logical = decimal
		}
	case fixed:
		switch {
		case name == "decimal":
			t.logical = decimal
		case name == "uuid" && t.size == 16:
			t.logical = uuid
		}
	}
}

// variableDecimal is the name of Debezium's record of a scale and bytes.
const variableDecimal = "io.debezium.data.VariableScaleDecimal"

// setVariable checks whether a record whose fields are known is such a record.
func (t *typ) setVariable() {
	if t.name != variableDecimal || len(t.fields) != 2 {
		return
	}
	scale, value := t.find("scale"), t.find("value")
	if scale >= 0 && value >= 0 && t.fields[scale].typ.kind == integer && t.fields[value].typ.kind == bytes {
		t.logical = variable
	}
}

// isDecimal reports whether values of the type are decimals.
func (t *typ) isDecimal() bool { return t.logical == decimal || t.logical == variable }
