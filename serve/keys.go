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
		about: "A row key part by part, with a row of it, ranges, split points and what can be foreseen to end badly: brine key, while you type.",
		params: []param{
			text("table", "Whose key is meant; left out: that of the expression."), text("key", "An expression that is no table's key yet."),
			list("field", "NAME:TYPE of a field of the expression: text, int, float, bool or time."),
			text("row", "With key: what a row is, event or entity (default: event)."),
			number("regions", "That the table begins with, for split points."), number("servers", "Of the cluster."),
			list("query", "With key: a query that the table is for, such as waybill at.."),
			list("value", "FIELD=VALUE of the row that is made."),
			list("where", "FIELD=VALUE or FIELD=FROM..TO of the rows whose ranges are shown."),
			text("row_key", "A row key to take apart, as HBase's shell prints keys."),
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
		return wrong("query.key", "one of key and table is needed, and not both", "write an expression, or name a table")
	}
	switch row := v.Get("row"); row {
	case "", "event":
	case "entity":
		of.Entity = true
	default:
		return wrong("query.row", strconv.Quote(row)+" is neither event nor entity", "leave it out for event")
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
