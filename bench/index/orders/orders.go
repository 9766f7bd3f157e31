// Package orders makes the documents of bench/index, the same for brine's indexer and for the peer. Nothing else imports it.
package orders

import (
	"fmt"
	"strconv"

	"brine/event"
	"brine/indexer"
	"brine/rowkey"
)

// Index is the index that is written.
const Index = "bench-orders"

// perDocument is the number of partial changes to each document.
const perDocument = 4

var schema = event.Schema{Version: -1, Fields: []event.Field{
	{Name: "order", Type: event.Text}, {Name: "status", Type: event.Text}, {Name: "item", Type: event.Text},
	{Name: "number", Type: event.Int}, {Name: "amount", Type: event.Float}, {Name: "gift", Type: event.Bool}, {Name: "at", Type: event.TimeMS},
}}

// Options declares the index for brine.
func Options(changes indexer.Changes) (indexer.Options, error) {
	key, err := rowkey.Parse("order", []rowkey.Field{{Name: "order", Type: rowkey.Text}})
	if err != nil {
		return indexer.Options{}, err
	}
	return indexer.Options{Schema: schema, Documents: []indexer.Document{{
		Index: Index, Key: key, Changes: changes,
		Set: []indexer.Column{
			{Name: "status", Field: "status"}, {Name: "item", Field: "item", Type: indexer.Text}, {Name: "number", Field: "number"},
			{Name: "amount", Field: "amount"}, {Name: "gift", Field: "gift"}, {Name: "at", Field: "at"},
		},
	}}}, nil
}

// Documents returns the number of documents that n changes result in.
func Documents(changes indexer.Changes, n int) int {
	if changes == indexer.Partial {
		return (n + perDocument - 1) / perDocument
	}
	return n
}

var (
	states = []string{"created", "paid", "shipped", "delivered"}
	words  = []string{"red apple juice", "green tea 500 g", "oat biscuits", "dark roast coffee", "washing powder", "long grain rice",
		"olive oil 1 l", "tomato sauce"}
)

const start = 1_700_000_000_000

// Event returns the i-th of n changes. Each whole change is a document; partial changes to one document are far apart.
func Event(changes indexer.Changes, i, n int) event.Event {
	order, state := i, i%len(states)
	if changes == indexer.Partial {
		documents := Documents(changes, n)
		order, state = i%documents, i/documents
	}
	ev := event.Event{Record: &record, Version: Version(i), Values: make([]event.Value, len(schema.Fields))}
	ev.Values[0] = event.TextValue(ID(order))
	ev.Values[1] = event.TextValue(states[state])
	if changes == indexer.Partial && state > 0 {
		ev.Values[6] = event.TimeValue(Version(i))
		return ev
	}
	ev.Values[2] = event.TextValue(item(order))
	ev.Values[3] = event.IntValue(int64(order))
	ev.Values[4] = event.FloatValue(amount(order))
	ev.Values[5] = event.BoolValue(order%2 == 0)
	ev.Values[6] = event.TimeValue(Version(i))
	return ev
}

var record event.Record

// ID returns the id of a document.
func ID(order int) string { return fmt.Sprintf("order-%010d", order) }

// Version returns the version of a change.
func Version(i int) int64 { return start + int64(i) }

func item(order int) string { return words[order%8] + ", " + words[order/8%8] }

func amount(order int) float64 { return float64(order%10_000) + 0.25 }

// AppendSource appends the JSON that brine writes for the i-th whole change.
func AppendSource(dst []byte, i int) []byte {
	dst = fmt.Appendf(dst, `{"_row":%q,"_ver":%d,"status":%q,"item":%q,"number":%d,"amount":`, ID(i), Version(i),
		states[i%len(states)], item(i), i)
	dst = strconv.AppendFloat(dst, amount(i), 'f', -1, 64)
	return fmt.Appendf(dst, `,"gift":%t,"at":%d}`, i%2 == 0, Version(i))
}
