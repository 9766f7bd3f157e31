package client

import (
	"context"
	"net/url"
	"strconv"
)

// KeyOf selects a key, and what to compute with it.
type KeyOf struct {
	Table   string   // of the configuration; empty: use Key
	Key     string   // a key expression
	Fields  []string // NAME:TYPE of the expression's fields
	Entity  bool     // of an expression: a row is an entity, and not an event
	Regions int      // initial number of regions; 0: unknown
	Servers int      // number of servers in the cluster; 0: unknown
	Queries []string // queries that the table is for, such as "waybill at.."
	Values  []string // FIELD=VALUE, of the row to show
	Where   []string // FIELD=VALUE or FIELD=FROM..TO, of the rows whose ranges to show
	Row     string   // a row key to take apart; empty: that of Values
}

// KeyDesign is a key, part by part, and what was computed with it.
type KeyDesign struct {
	Key      string       `json:"key,omitempty" doc:"As brine writes it; absent: the expression is none, as findings say."`
	Fields   []KeyField   `json:"fields"`
	Parts    []KeyPart    `json:"parts"`
	Row      string       `json:"row,omitempty" doc:"The row key of the values, as HBase's shell prints keys."`
	Bytes    int          `json:"bytes,omitempty" doc:"Of row."`
	RowWrong string       `json:"row_wrong,omitempty" doc:"Why there is no row, or the row is none of the key's."`
	Scans    []KeyScan    `json:"scans" doc:"What is read for the bounds. None: no row can match, or scans_wrong says why."`
	Wrong    string       `json:"scans_wrong,omitempty" doc:"Why the bounds lead to no ranges."`
	Splits   []string     `json:"splits" doc:"Between the regions that the table begins with."`
	Unsplit  string       `json:"splits_wrong,omitempty" doc:"Why the key has no such split points."`
	Findings []KeyFinding `json:"findings" doc:"What can be foreseen to end badly, as brine key lint reports it."`
}

// KeyPart is a part of a key.
type KeyPart struct {
	Expr  string `json:"expr"`
	Width int    `json:"width,omitempty" doc:"In bytes; absent: it varies."`
	Doc   string `json:"doc"`
	Bytes string `json:"bytes,omitempty" doc:"Of the row."`
	Value string `json:"value,omitempty" doc:"That the row's bytes mean; absent of a hash."`
}

// KeyScan is a range to read, with the versions to read in it if the table has several keys.
type KeyScan struct {
	Start string `json:"start"`
	Stop  string `json:"stop,omitempty" doc:"Absent: to the end of the table."`
	From  int64  `json:"from_version,omitempty"`
	To    int64  `json:"to_version,omitempty"`
}

// KeyFinding is a mistake or a weakness of a key.
type KeyFinding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity" doc:"error, warning or advice."`
	Column   int    `json:"column,omitempty" doc:"Of the expression, in characters from 1 on."`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
}

// Key returns what a key is, and what is computed with it.
func (c *Client) Key(ctx context.Context, of KeyOf) (out KeyDesign, err error) {
	params := url.Values{}
	for name, value := range map[string]string{"table": of.Table, "key": of.Key, "row_key": of.Row} {
		if value != "" {
			params.Set(name, value)
		}
	}
	for name, n := range map[string]int{"regions": of.Regions, "servers": of.Servers} {
		if n > 0 {
			params.Set(name, strconv.Itoa(n))
		}
	}
	for name, list := range map[string][]string{"field": of.Fields, "query": of.Queries, "value": of.Values, "where": of.Where} {
		for _, value := range list {
			params.Add(name, value)
		}
	}
	if of.Entity {
		params.Set("row", "entity")
	}
	return out, c.get(ctx, opsPath+"/keys", params, &out)
}
