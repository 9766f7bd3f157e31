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
	Key      string       `json:"key,omitempty" doc:"The key expression, as brine writes it. Absent if the expression is invalid; findings then says why."`
	Fields   []KeyField   `json:"fields"`
	Parts    []KeyPart    `json:"parts"`
	Row      string       `json:"row,omitempty" doc:"Row key that was given, or that the values make, in the HBase shell's notation."`
	Bytes    int          `json:"bytes,omitempty" doc:"Length of row in bytes."`
	RowWrong string       `json:"row_wrong,omitempty" doc:"Why there is no row key, or why it does not fit the key."`
	Scans    []KeyScan    `json:"scans" doc:"Scan ranges for the bounds, at most 1,024. Empty if no row can match, or if scans_wrong says why."`
	Wrong    string       `json:"scans_wrong,omitempty" doc:"Why the bounds have no scan ranges, or how many ranges are left out."`
	Splits   []string     `json:"splits" doc:"Split points between the table's initial regions."`
	Unsplit  string       `json:"splits_wrong,omitempty" doc:"Why the key has no such split points."`
	Findings []KeyFinding `json:"findings" doc:"Likely problems of the key, as reported by brine key lint."`
}

// KeyPart is a part of a key.
type KeyPart struct {
	Expr  string `json:"expr"`
	Width int    `json:"width,omitempty" doc:"Width in bytes. Absent if it varies."`
	Doc   string `json:"doc"`
	Bytes string `json:"bytes,omitempty" doc:"This part of the row key, in the HBase shell's notation."`
	Value string `json:"value,omitempty" doc:"Value of these bytes. Absent for a hash."`
}

// KeyScan is a range to read, with the versions to read in it if the table has several keys.
type KeyScan struct {
	Start string `json:"start" doc:"First key of the range."`
	Stop  string `json:"stop,omitempty" doc:"First key after the range. Absent if the range extends to the end of the table."`
	From  int64  `json:"from_version,omitempty"`
	To    int64  `json:"to_version,omitempty"`
}

// KeyFinding is a mistake or a weakness of a key.
type KeyFinding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity" doc:"error, warning or advice."`
	Column   int    `json:"column,omitempty" doc:"Position in the expression, in characters, from 1."`
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
