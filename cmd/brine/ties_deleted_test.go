package main

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestAValueAndADeleteOfOneMillisecond: of a value and a delete with the same version, marked by a field of the record, the later one
// decides if values say that they are none. If they leave that out, the rule for null columns decides in the row, as docs/rows.md says.
func TestAValueAndADeleteOfOneMillisecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nulls, gone string
		rows        []string // that exist at the end
	}{
		{"delete", "{ type: bool, default: false }", []string{"back"}},
		{"replace", "{ type: bool, default: false }", []string{"back"}},
		{"delete", "bool", []string{"back", "gone"}},
		{"replace", "bool", nil},
	} {
		t.Run(c.nulls+" "+c.gone, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, embeddedStack(t), customersExample)
			j.replace("    deletes: tombstone\n    images: { deleted: gone }\n", "")
			j.replace("gone: bool  ", "gone: "+c.gone+"  ")
			j.replace("nulls: delete  ", "nulls: "+c.nulls+"\n        deleted: gone  ")
			j.replace("        set: { id: id, name: name, city: city }", "        deleted: gone\n        set: { id: id, name: name, city: city }")
			first := time.UnixMilli(1357034220000)
			then := first.Add(20 * time.Millisecond)
			record := func(id, value string, at time.Time) sent {
				return sent{key: fmt.Appendf(nil, `{"id":%q}`, id), value: []byte(value), time: at}
			}
			const before, after, end = `{"name":"old","city":"Rome"}`, `{"name":"new","city":"Oslo"}`, `{"gone":true}`
			j.sendAll([]sent{
				record("back", before, first), record("back", end, then), record("back", after, then),
				record("gone", before, first), record("gone", after, then), record("gone", end, then),
			})
			j.ran(exitOK)
			var rows []string
			for _, id := range []string{"back", "gone"} {
				if len(j.rowsOf("id="+id)) > 0 {
					rows = append(rows, id)
				}
			}
			var documents []string
			for _, d := range j.documents() {
				if d["deleted"] != true {
					documents = append(documents, fmt.Sprint(d["id"]))
				}
			}
			if slices.Sort(documents); !slices.Equal(rows, c.rows) || !slices.Equal(documents, []string{"back"}) {
				t.Errorf("rows %v, documents %v", rows, documents)
			}
		})
	}
}
