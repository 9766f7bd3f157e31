package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestChangesOfOnePositionTie has a statement that gives the key of one row to another, as UPDATE … SET id = id + 1 does: its changes are
// one event of MySQL's log, so they have one position. The key's delete and insert tie, which is counted as ties of times are, and the one
// published later wins.
func TestChangesOfOnePositionTie(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), debeziumExample)
	const before, of = 4, 204 // positions
	var records []sent
	change := func(was, is *tableRow, op string, pos int) {
		records = append(records, sent{time: time.UnixMilli(tableCreated), value: fmt.Appendf(nil, `{"before":%s,"after":%s,"source":{"connector":"mysql",`+
			`"name":"s1","ts_ms":%d,"snapshot":"false","db":"shop","table":"orders","file":"bin.000001","pos":%d},"op":%q,"ts_ms":%[3]d}`,
			was.json(unscaled), is.json(unscaled), tableCreated, pos, op)})
	}
	row := func(id, items string) *tableRow { return &tableRow{id, "ann", items, "new", "1.00"} }
	change(nil, row("o1", "hat"), "c", before)
	change(nil, row("o2", "shoe"), "c", before+100)
	change(row("o2", "shoe"), nil, "d", of)
	change(nil, row("o3", "shoe"), "c", of)
	change(row("o1", "hat"), nil, "d", of)
	change(nil, row("o2", "hat"), "c", of)
	j.sendAll(records)
	ran := j.must("run", "-c", j.file, "--until-end", "--json")
	if !strings.Contains(ran, "changes tie in their version") || !strings.Contains(ran, `"ties":2`) {
		t.Errorf("run does not say that two cells of one row tie:\n%s", ran)
	}
	got := map[string]string{}
	for _, row := range j.rowsOf("user=ann") {
		f := row["fields"].(map[string]any)
		got[f["order"].(string)] = f["items"].(string)
	}
	if diff := cmp.Diff(map[string]string{"o2": "hat", "o3": "shoe"}, got); diff != "" {
		t.Errorf("rows (-SELECT +brine):\n%s", diff)
	}
	if r, _ := j.verified(exitOK, "--full"); r.Problems != 0 || r.Ties != 2 || r.Tables[0].Ties != 1 || r.Tables[1].Ties != 1 {
		t.Errorf("verify says %+v", r) // the row and its document
	}
}
