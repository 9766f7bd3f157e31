package verify_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"brine/indexer"
	"brine/sink"
	"brine/verify"
)

// options returns options that verify everything.
func (w *world) options() verify.Options {
	tables := map[string]bool{}
	o := verify.Options{Full: true, Now: func() time.Time { return w.now }, Dir: w.t.TempDir(), Workers: 2,
		Sources: []verify.Source{{Name: "rows", Ingest: w.ingestOptions("rows"), Rows: w.rows, Letters: w.letters("rows")}}}
	for _, r := range w.rows.Rows {
		if !tables[r.Table.Name] {
			o.Tables = append(o.Tables, verify.Table{Name: r.Table.Name, Store: verify.HBase(w.client, r.Table.Name), Events: r.Table.Row == sink.RowEvent, TTL: r.Table.TTL})
		}
		tables[r.Table.Name] = true
	}
	if w.docs != nil {
		o.Sources = append(o.Sources, verify.Source{Name: "documents", Ingest: w.ingestOptions("documents"), Documents: w.docs, Letters: w.letters("documents")})
		o.Tables = append(o.Tables, verify.Table{Name: w.table, Store: verify.Index(w.engine, w.table, nil), Documents: true, Whole: w.docs.Documents[0].Changes == indexer.Whole})
	}
	return o
}

// letters returns the open dead letters of a half.
func (w *world) letters(half string) func(context.Context) iter.Seq2[verify.Letter, error] {
	o := w.ingestOptions(half)
	return verify.DeadLetters(o)
}

// verify runs a check, and returns it with its report.
func (w *world) verify(o verify.Options) (*verify.Check, *verify.Report) {
	w.t.Helper()
	c, err := verify.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	r, err := c.Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return c, r
}

// check verifies with options, and returns the report.
func (w *world) check(o verify.Options) *verify.Report {
	w.t.Helper()
	_, r := w.verify(o)
	return r
}

// found formats the findings as text, one per line, with versions relative to base.
func found(r *verify.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		where := "row"
		if f.Document {
			where = "document"
		}
		fmt.Fprintf(&b, "%s %s %s %s", f.Kind, where, f.Key, f.Column)
		for _, v := range []struct {
			name string
			at   int64
		}{{"expected", f.Expected}, {"found", f.Found}} {
			if v.at >= 0 {
				fmt.Fprintf(&b, " %s %d", v.name, v.at-base.UnixMilli())
			}
		}
		for _, rec := range f.Records {
			fmt.Fprintf(&b, " %d@%d", rec.Partition, rec.Offset)
		}
		fmt.Fprintf(&b, ": %s\n", f.Reason)
	}
	return b.String()
}
