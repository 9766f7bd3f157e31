package verify

import (
	"slices"
	"time"

	"brine/hbase"
	"brine/indexer"
	"brine/sink"
)

// Tables returns all tables and indexes that the sources write, each once. client or engine may be nil if no source writes through it.
func Tables(sources []Source, client *hbase.Client, engine indexer.Engine) []Table {
	var out []Table
	for i := range sources {
		s := &sources[i]
		if s.Rows != nil {
			for _, r := range s.Rows.Rows {
				out = append(out, Table{Name: r.Table.Name, Store: HBase(client, r.Table.Name), Events: r.Table.Row == sink.RowEvent, TTL: r.Table.TTL})
			}
			continue
		}
		for i := range s.Documents.Documents {
			d := &s.Documents.Documents[i]
			t := Table{Name: d.Index, Store: Index(engine, d.Index, partOf(d)), Documents: true, Whole: d.Changes == indexer.Whole, Purge: d.Purge}
			if d.Keep > 0 {
				t.TTL = map[string]time.Duration{"": d.Keep}
			}
			out = append(out, t)
		}
	}
	return once(out)
}

// once drops tables that occur earlier in the list.
func once(tables []Table) (out []Table) {
	for _, t := range tables {
		if !slices.ContainsFunc(out, func(o Table) bool { return o.Name == t.Name && o.Documents == t.Documents }) {
			out = append(out, t)
		}
	}
	return out
}

// partOf returns a function that names the part of an index that holds a document, by the time in its row key, or nil if there are no
// parts.
func partOf(d *indexer.Document) func(id []byte) string {
	at := slices.Index(d.Key.Fields(), d.Time)
	if d.Every == "" || at < 0 {
		return nil
	}
	return func(id []byte) string {
		row, err := indexer.ParseRowText(id)
		if err != nil {
			return d.Index
		}
		values, err := d.Key.Decode(row)
		if err != nil {
			return d.Index
		}
		return d.Every.Part(d.Index, values[at].Int)
	}
}

// Shared returns the first table or index that both one of the sources and one of the others write, and which of the others. Options.Full
// would report what those others write as extra.
func Shared(sources, others []Source) (t Table, by *Source) {
	for i := range sources {
		for _, name := range sources[i].tables() {
			documents := sources[i].Documents != nil
			for j := range others {
				if o := &others[j]; (o.Documents != nil) == documents && slices.Contains(o.tables(), name) {
					return Table{Name: name, Documents: documents}, o
				}
			}
		}
	}
	return Table{}, nil
}
