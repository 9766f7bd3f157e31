package serve

import (
	"context"
	"strconv"

	"brine/rowkey"
	"brine/serve/client"
)

// mostSplits is the most regions for which a key's split points are shown.
const mostSplits = 4096

// keyRoutes returns the routes about row keys, of a table or of an expression. They make no request to a store.
func keyRoutes() []*endpoint {
	text := func(name, about string) param { return param{in: "query", name: name, about: about, kind: rowkey.Text} }
	list := func(name, about string) param { p := text(name, about); p.list = true; return p }
	number := func(name, about string) param { return param{in: "query", name: name, about: about, kind: rowkey.Int} }
	return []*endpoint{{
		path: opsPath + "/keys", id: "key",
		about: "Explain a key, or a row key, part by part, with scan ranges, split points and likely problems, as brine key does.",
		params: []param{
			text("table", "Table of the configuration whose key is meant. Give either table or key."),
			text("key", "Key expression to use instead of a table's key."),
			list("field", "With key: a field, NAME:TYPE (text, int, float, bool, time); may be repeated."),
			text("row", "With key: what a row represents, event (default) or entity."),
			number("regions", "Initial number of regions, at most 4096."), number("servers", "Number of region servers in the cluster."),
			list("query", "A query that the table should answer, such as 'waybill at..'; may be repeated."),
			list("value", "FIELD=VALUE of the row key to build; may be repeated."),
			list("where", "Bounds whose scan ranges are shown: FIELD=VALUE or FIELD=FROM..TO; may be repeated."),
			text("row_key", "Row key to explain, in the HBase shell's notation; used instead of value."),
		},
		answer: client.KeyDesign{}, handle: (*call).key,
	}}
}

func (c *call) key() (err error) {
	v := c.values
	of := client.KeyOf{Table: v.Get("table"), Key: v.Get("key"), Fields: v["field"], Queries: v["query"], Values: v["value"],
		Where: v["where"],
		Row:   v.Get("row_key")}
	if (of.Table == "") == (of.Key == "") {
		return wrong("query.key", "exactly one of key and table is needed", "write an expression, or name a table")
	}
	switch row := v.Get("row"); row {
	case "", "event":
	case "entity":
		of.Entity = true
	default:
		return wrong("query.row", strconv.Quote(row)+" is not event or entity", "omit it for event")
	}
	if of.Regions, err = c.number("regions", mostSplits); err != nil {
		return err
	}
	if of.Servers, err = c.number("servers", mostSplits); err != nil {
		return err
	}
	return answer(c, func(ctx context.Context) (client.KeyDesign, error) {
		return c.opts.Operations.Key(ctx, of, c.masks(c.id))
	})
}
