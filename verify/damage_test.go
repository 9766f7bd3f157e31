package verify_test

import (
	"testing"

	"brine/hbase"
)

// put writes a cell directly, bypassing the pipelines; version is relative to base.
func (w *world) put(row, family, qualifier string, version int64, value string) {
	w.mutate(row, func(b *hbase.Batch) {
		b.Put([]byte(family), []byte(qualifier), base.UnixMilli()+version, []byte(value))
	})
}

func (w *world) delete(kind hbase.CellType, row, family, qualifier string, version int64) {
	w.mutate(row, func(b *hbase.Batch) { b.Delete(kind, []byte(family), []byte(qualifier), base.UnixMilli()+version) })
}

func (w *world) mutate(row string, do func(*hbase.Batch)) {
	w.t.Helper()
	b := hbase.NewBatch(w.table)
	b.Mutate([]byte(row))
	do(b)
	if failures, err := w.client.Submit(w.t.Context(), b).Wait(w.t.Context()); err != nil || len(failures) > 0 {
		w.t.Fatal(err, failures)
	}
}

// someOrders are changes of six orders, in rows of all three regions.
var someOrders = []string{
	change("o1", 0, `"status":"created","total":5`), change("o2", 0, `"status":"created","total":7`), change("o3", 0, `"status":"created","total":1`),
	change("o4", 0, `"status":"created","total":2`), change("o5", 0, `"status":"created","total":3`), change("o6", 0, `"status":"created","total":4`),
	change("o1", 10, `"status":"paid"`), change("o2", 10, `"status":"paid","note":"gift"`), change("o3", 10, `"status":"paid"`),
}

// TestEachDamageIsNamed damages a correct table, in one way at a time: verify must report exactly that, with the row, the column, the
// versions and the record.
func TestEachDamageIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		damage func(w *world)
		want   string
		window string // what a window of the whole topic finds, if that is less; "-": nothing
	}{
		{"none", func(*world) {}, "", ""},
		{"a row is deleted", func(w *world) {
			w.delete(hbase.DeleteFamily, "o2", "f", "", 1000)
			w.delete(hbase.DeleteFamily, "o2", "g", "", 1000)
		}, "missing row o2  expected 10 1@2 1@0: all of it is missing; a delete marker of version 1714550401000 hides it, so a repair shows only after a major compaction has dropped that\n", ""},
		{"a cell is deleted", func(w *world) { w.delete(hbase.DeleteColumn, "o2", "g", "note", 1000) },
			"missing row o2 g:note expected 10 1@2: it is missing; a delete marker of version 1714550401000 hides it, so a repair shows only after a major compaction has dropped that\n", ""},
		{"an older cell", func(w *world) {
			w.delete(hbase.Delete, "o3", "f", "status", 10)
			w.put("o3", "f", "status", 3, "old")
		}, "stale row o3 f:status expected 10 found 3 2@2: a newer change is missing\n", ""},
		{"a newer cell", func(w *world) { w.put("o4", "f", "total", 99, "2") },
			"newer row o4 f:total found 99: no record has this version\n", "-"},
		{"a different cell", func(w *world) { w.put("o5", "f", "total", 0, "33") },
			"different row o5 f:total expected 0 found 0 1@1: the version is right, but the value is not\n", ""},
		{"an extra row", func(w *world) { w.put("o55", "f", "status", 5, "x") },
			"extra row o55  found 5: no record accounts for it\n", "-"},
		{"an extra row before all others", func(w *world) { w.put("a", "f", "status", 5, "x") },
			"extra row a  found 5: no record accounts for it\n", "-"},
		{"an extra row behind all others", func(w *world) { w.put("z", "f", "status", 5, "x") },
			"extra row z  found 5: no record accounts for it\n", "-"},
		{"an extra cell", func(w *world) { w.put("o6", "g", "note", 5, "x") },
			"extra row o6 g:note found 5: no record accounts for this cell\n", "-"},
	} {
		for name, servers := range map[string]cluster{"embedded": embeddedHBase, "real": realHBase} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, servers)
				w.send(someOrders...)
				w.write()
				c.damage(w)
				o := w.options()
				if got := found(w.check(o)); got != c.want {
					t.Errorf("full mode finds\n%sexpected\n%s", got, c.want)
				}
				o.Full = false
				want := c.want
				switch c.window {
				case "-":
					want = ""
				case "":
				default:
					want = c.window
				}
				if got := found(w.check(o)); got != want {
					t.Errorf("a window of everything finds\n%sexpected\n%s", got, want)
				}
			})
		}
	}
}
