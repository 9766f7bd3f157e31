package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/query"
)

// checkAgainstRows compares every document with its row, field by field including versions, and returns the number of fields compared.
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

// readBack returns the table's columns, and maps the event's fields that fill both to the fields of the documents.
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

// fieldText formats a field of a document with its version.
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

// cellText formats a cell as fieldText formats its field.
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
