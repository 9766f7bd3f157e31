package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/indexer/elastic"
	bleve "brine/indexer/embedded"
	"brine/query"
	"brine/search"
)

// documents is an index as it is: the sources by the row keys that they stand beside.
type documents map[string]map[string]any

// String is the number of documents and a digest over all of them with their versions, in the order of their keys.
func (d documents) String() string {
	sum := sha256.New()
	for _, row := range sortedKeys(d) {
		text, err := json.Marshal(d[row]) // fields in order
		if err != nil {
			panic("BUG: what was read as JSON can be written: " + err.Error())
		}
		fmt.Fprintf(sum, "%q %s\n", row, text)
	}
	return fmt.Sprintf("%d documents, SHA-256 %s", len(d), hex.EncodeToString(sum.Sum(nil))[:16])
}

// engine opens the job's search engine; one that is embedded must not be open in a brine.
func (j *job) engine() indexer.Engine {
	j.t.Helper()
	var engine indexer.Engine
	var err error
	if dir, ok := strings.CutPrefix(j.search, "embedded:"); ok {
		engine, err = bleve.Open(bleve.Options{Dir: dir})
	} else {
		engine, err = elastic.Open(elastic.Options{Addresses: []string{j.search}})
	}
	if err != nil {
		j.t.Fatal(err)
	}
	return engine
}

// documents reads every document of the job's index: found by search, read by id.
func (j *job) documents() documents {
	j.t.Helper()
	ctx, engine := j.t.Context(), j.engine()
	defer engine.Close()
	if err := engine.Refresh(ctx, j.name); err != nil {
		j.t.Fatal(err)
	}
	docs := documents{}
	for q := (search.Query{Index: j.name, Size: 1000, Deleted: true}); ; {
		page, err := engine.Search(ctx, q)
		if err != nil {
			j.t.Fatal(err)
		}
		refs := make([]indexer.Ref, len(page.Hits))
		stored := make([]indexer.Stored, len(page.Hits))
		for i, hit := range page.Hits {
			refs[i] = indexer.Ref{Index: j.name, ID: indexer.AppendRowText(nil, hit.Row)}
		}
		if len(refs) > 0 {
			if err := engine.Get(ctx, refs, stored); err != nil {
				j.t.Fatal(err)
			}
		}
		for i, hit := range page.Hits {
			docs[string(hit.Row)] = decodeSource(j.t, stored[i])
		}
		if page.Next == "" {
			return docs
		}
		q.After = page.Next
	}
}

func decodeSource(t *testing.T, s indexer.Stored) map[string]any {
	t.Helper()
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(string(s.Source)))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil || !s.Found {
		t.Fatalf("a document that search found cannot be read: found %v, %v", s.Found, err)
	}
	return fields
}

// compare fails the test for the first documents that differ.
func compare(t *testing.T, got, want documents) {
	t.Helper()
	if got.String() == want.String() {
		return
	}
	t.Errorf("the documents differ: %v, want %v", got, want)
	shown := 0
	for _, row := range sortedKeys(want) {
		a, _ := json.Marshal(got[row]) // read as JSON
		b, _ := json.Marshal(want[row])
		if string(a) != string(b) {
			t.Errorf("row %q\n got %s\nwant %s", row, a, b)
			if shown++; shown == 3 {
				break
			}
		}
	}
	t.FailNow()
}

// checkAgainstRows compares every document with its row, field by field with the versions, and gives how many fields it compared.
func (j *job) checkAgainstRows(docs documents) int {
	j.t.Helper()
	table, index := j.readBack()
	client, err := hbase.Open(j.t.Context(), hbase.Options{Connect: j.hbase})
	if err != nil {
		j.t.Fatal(err)
	}
	defer client.Close()
	rows, fields := 0, 0
	for row, err := range client.Scan(j.t.Context(), j.table, hbase.Scan{}) {
		if err != nil {
			j.t.Fatal(err)
		}
		rows++
		doc := docs[string(row.Row)]
		if doc == nil {
			j.t.Fatalf("row %q has no document", row.Row)
		}
		cells := map[string]hbase.Cell{}
		for _, c := range row.Cells {
			cells[string(c.Family)+":"+string(c.Qualifier)] = c
		}
		for _, column := range table.Columns {
			name, ok := index[column.Field]
			if !ok {
				continue
			}
			cell, ok := cells[column.Family+":"+column.Qualifier]
			if got, want := fieldText(doc, name), cellText(j.t, column, cell, ok); got != want {
				j.t.Fatalf("row %q: field %s of the document is %s, column %s:%s is %s", row.Row, name, got, column.Family, column.Qualifier, want)
			}
			fields++
		}
	}
	if rows != len(docs) {
		j.t.Fatalf("%d documents of %d rows", len(docs), rows)
	}
	return fields
}

// readBack gives the table's columns, and the fields of the documents by the event's fields that fill them both.
func (j *job) readBack() (query.Table, map[string]string) {
	j.t.Helper()
	text, err := os.ReadFile(j.file)
	if err != nil {
		j.t.Fatal(err)
	}
	cfg, problems := config.Parse(j.file, text, func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		j.t.Fatal(err)
	}
	table, ok := cfg.Query(cfg.Table(j.table))
	if !ok || table.Index == nil {
		j.t.Fatalf("table %s has no index", j.table)
	}
	names := map[string]string{table.Deleted: indexer.FieldDeleted}
	for _, f := range table.Index.Fields {
		names[f.Field] = f.Name
	}
	return table, names
}

// fieldText shows a field of a document with its version.
func fieldText(doc map[string]any, name string) string {
	v, ok := doc[name]
	if !ok {
		return "absent"
	}
	if n, ok := v.(json.Number); ok && strings.ContainsAny(n.String(), ".e") {
		f, err := n.Float64()
		if err != nil {
			return err.Error()
		}
		v = strconv.FormatFloat(f, 'g', -1, 64)
	}
	versions, _ := doc[indexer.FieldVersions].(map[string]any)
	return fmt.Sprintf("%v@%v", v, versions[name])
}

// cellText shows a cell as fieldText shows its field.
func cellText(t *testing.T, column query.Column, cell hbase.Cell, ok bool) string {
	t.Helper()
	if !ok {
		return "absent"
	}
	v, err := event.ParseValue(column.Type, cell.Value)
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	switch v.Type {
	case event.Text:
		shown = string(v.Text())
	case event.Float:
		shown = strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case event.Bool:
		shown = strconv.FormatBool(v.Bool())
	default:
		shown = strconv.FormatInt(v.Int(), 10)
	}
	return fmt.Sprintf("%s@%d", shown, cell.Timestamp)
}

// deleteIndex deletes the job's index from a server, and what is beside it.
func (j *job) deleteIndex(ctx context.Context) {
	engine := j.engine().(*elastic.Engine)
	defer engine.Close()
	if err := engine.Discard(ctx, j.name); err != nil {
		j.t.Error(err)
	}
	names, err := engine.Behind(ctx, j.name)
	if err != nil {
		j.t.Error(err)
	}
	for _, name := range names {
		req, err := http.NewRequestWithContext(ctx, http.MethodDelete, j.search+"/"+name, nil)
		if err != nil {
			j.t.Error(err)
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			j.t.Error(err)
			return
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			j.t.Errorf("delete index %s: %s", name, resp.Status)
		}
	}
}
