package event_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/event"
)

// Pieces of records: values of columns and of envelopes, some of which no publisher writes.
var (
	oracleValues = slices.Concat([]string{`null`, `1`, `-7`, `1.50`, `1e3`, `9223372036854775807`, `9223372036854775808`, `"1"`, `"-7"`, `"1.50"`, `"x"`, `""`, `"\u00e9\n"`, `"MDk="`, `"\/w=="`,
		`true`, `"true"`, `"0"`, `{"scale":2,"value":"MDk="}`, `{"scale":0}`, `{}`, `[]`, `{"a":[1, 2]}`, `"{\"a\":1}"`, `19000`, `1700000000123`, `"d"`}, slices.Sorted(maps.Values(placeholders)))
	oracleColumns = []string{"id", "name", "day", "more", "paid", "rate", "price", "other"}
	oracleKinds   = []string{`"c"`, `"u"`, `"d"`, `"r"`, `"t"`, `"m"`, `"x"`, `null`, `"insert"`, `"update"`, `"delete"`, `"bootstrap-insert"`, `"bootstrap-start"`, `"table-alter"`, `"INSERT"`, `"UPDATE"`,
		`"DELETE"`, `"TRUNCATE"`, `"ALTER"`, `"QUERY"`, `5`}
	oracleTypes = []string{`"type":"int64"`, `"type":"bytes"`, `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"1"}`,
		`"type":"struct","name":"io.debezium.data.VariableScaleDecimal"`, `"type":"int32","name":"io.debezium.time.Date"`, `"type":"int64","name":"io.debezium.time.MicroTimestamp"`}
)

func oneOf(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }

// randomRow makes a row. Most values have the type that is declared.
func randomRow(r *rand.Rand, texts bool) string {
	if r.IntN(12) == 0 {
		return oneOf(r, []string{"null", "[]", "{}", `"x"`})
	}
	good := map[string]string{"id": `7`, "name": `"ann"`, "day": `19000`, "more": `{"a":[1]}`, "paid": `true`, "rate": `1.5`, "price": `"MDk="`, "other": `[{}]`}
	var members []string
	for _, name := range oracleColumns {
		value := good[name]
		switch {
		case r.IntN(8) == 0:
			continue
		case r.IntN(20) == 0:
			value = oneOf(r, oracleValues)
		case texts && value[0] != '"':
			value = strconv.Quote(value)
		}
		members = append(members, `"`+name+`":`+value)
	}
	if r.IntN(40) == 0 {
		members = append(members, members...)
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	return "{" + strings.Join(members, ", ") + "}"
}

// randomRecord makes a record of any publisher.
func randomRecord(r *rand.Rand) string {
	row := func() string { return randomRow(r, false) }
	rows := func() string {
		var list []string
		for range r.IntN(4) {
			list = append(list, randomRow(r, true))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	var out string
	switch r.IntN(5) {
	case 0: // Maxwell's
		out = `{"database":"d","type":` + oneOf(r, oracleKinds[7:14]) + `,"ts_ms":5,"data":` + row() + `,"old":` + row() + `}`
	case 1: // Canal's
		out = `{"type":` + oneOf(r, oracleKinds[14:]) + `,"ts_ms":5,"old":` + rows() + `,"data":` + rows() + `}`
	case 2: // an unwrapped row
		if out = row(); strings.HasSuffix(out, `"}`) {
			out = strings.TrimSuffix(out, "}") + `,"__op":` + oneOf(r, oracleKinds[:8]) + `,"__ts_ms":` + oneOf(r, []string{`5`, `"5"`, `null`}) + `,"__deleted":` +
				oneOf(r, []string{`"false"`, `"false"`, `"true"`, `null`}) + `}`
		}
	case 3: // Debezium's own, with more or less than it has
		out = oneOf(r, []string{begins, ends, endsEarly, alters, altersWithout, beats})
		if r.IntN(3) == 0 {
			out = strings.Replace(out, `"`+oneOf(r, []string{"id", "status", "ddl", "source", "ts_ms"})+`"`, `"`+oneOf(r, append([]string{"op", "after"}, oracleColumns...))+`"`, 1)
		}
	default:
		out = `{"before":` + row() + `,"after":` + row() + `,"op":` + oneOf(r, oracleKinds[:8]) + `,"ts_ms":5}`
	}
	if r.IntN(3) == 0 {
		var fields []string
		for _, name := range oracleColumns {
			if r.IntN(2) == 0 {
				fields = append(fields, `{"field":"`+name+`",`+oneOf(r, oracleTypes)+`}`)
			}
		}
		list := "[" + strings.Join(fields, ",") + "]"
		schema := oneOf(r, []string{`null`, `{"type":"struct","fields":` + list + `}`, `{"name":"s1.shop.orders.Value","day":1,"type":"struct"}`, `{"fields":[{"field":"before","fields":` + list + `},{"field":"after","fields":` + list + `}]}`,
			`{"name":"io.debezium.connector.common.Heartbeat"}`, `[]`})
		out = oneOf(r, []string{`{"schema":` + schema + `,"payload":` + out + `}`, `{"payload":` + out + `, "schema":` + schema + `}`, `{"sch\u0065ma":` + schema + `,"payload":null}`})
	}
	if rest, object := strings.CutPrefix(out, "{"); object && r.IntN(20) == 0 { // columns that are named like the parts of a wrapped row
		out = `{"schema":` + oneOf(r, oracleValues) + `,"payload":` + oneOf(r, oracleValues) + `,` + rest
	}
	if r.IntN(20) == 0 {
		at := r.IntN(len(out))
		out = out[:at] + oneOf(r, []string{"", "\xff", "}", `"`, ","}) + out[min(len(out), at+r.IntN(3)):]
	}
	return out
}

// TestRandomRecordsInEnvelopes compares the decoders of all envelopes with the oracle on records that are made of their pieces.
func TestRandomRecordsInEnvelopes(t *testing.T) {
	for _, o := range envelopeOracles(t) {
		r, d, written := rand.New(rand.NewPCG(1, 2)), event.NewDecoder(o.schema), 0
		const records = 4_000
		for range records {
			if o.agrees(t, d, []byte(randomRecord(r))) {
				written++
			}
		}
		if written < records/100 {
			t.Errorf("%s: only %d of %d records write something", o.schema.Envelope.Form, written, records)
		}
	}
}
