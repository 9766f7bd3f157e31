package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/sink"
)

func TestTiesAreWarnedOfOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := tieWarnings{pipeline: "orders", tables: map[string]*tieCount{}, log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
					return slog.Attr{}
				}
				return a
			}}))}
		hooks := w.watch(sink.Hooks{Tie: func(sink.Tie) {}})
		see := func(table string, offset int64) {
			hooks.Tie(sink.Tie{Table: table, Row: []byte("o\x1b1"), Family: []byte("brief"), Qualifier: []byte("status"), Version: 7,
				Record: &event.Record{Topic: "shop.orders", Partition: 2, Offset: offset}, Partition: 1, Offset: 4})
		}
		for i := range int64(59) {
			see("orders", i)
			see("customers", i)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		see("orders", 60)
		hooks.Tie(sink.Tie{Table: "gone", Row: []byte("o1"), Record: &event.Record{Topic: "shop.orders"}, Offset: 3})
		const tie = `msg="changes of one version tie, and which wins depends on the order they are applied in; version: seq(at, n) decides" pipeline=orders `
		want := tie + `table=orders cells=1 row=o\x1B1 column=brief:status version=7 topic=shop.orders records="1:4 and 2:0"` + "\n" +
			tie + `table=customers cells=1 row=o\x1B1 column=brief:status version=7 topic=shop.orders records="1:4 and 2:0"` + "\n" +
			tie + `table=orders cells=59 row=o\x1B1 column=brief:status version=7 topic=shop.orders records="1:4 and 2:60"` + "\n" +
			`msg="a delete and another change have one version, and the delete wins; version: seq(at, n) decides" pipeline=orders table=gone cells=1 row=o1 column="" version=0 topic=shop.orders records="0:3 and 0:0"` + "\n"
		if got := strings.ReplaceAll(out.String(), " \n", "\n"); got != want {
			t.Errorf("warned\n%s\nexpected\n%s", got, want)
		}
		if w.count() != 2*59+2 {
			t.Errorf("%d ties", w.count())
		}
	})
}

// TestChangesThatTieAreSaid has two orders with two changes in one millisecond, one of them twice: check foresees the ties, run warns of
// them, and verify counts the rows and documents that depend on them; none of them fails for it.
func TestChangesThatTieAreSaid(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), ordersExample)
	const at = 1_700_000_000_000
	send := func(partition int, order, status string, at int64) {
		j.sendAt(partition, fmt.Sprintf(`{"order":%q,"user":"u1","created":%d,"at":%d,"status":%q}`, order, 1_700_000_000_000, at, status), time.UnixMilli(at))
	}
	send(0, "O1", "created", at)
	send(0, "O1", "paid", at)
	send(0, "O1", "created", at) // redelivered
	send(1, "O2", "created", at)
	send(1, "O2", "paid", at)
	send(2, "O3", "created", at)
	send(2, "O3", "paid", at+1)
	send(2, "O3", "paid", at+1)

	checked := strings.Join(strings.Fields(j.must("check", "--connect", j.file)), " ")
	for _, want := range []string{"changes of one version tie", "2 rows of " + j.table, "partition 0, offset 0, and partition 0, offset 1", "seq(at, n)", "[version-ties]"} {
		if !strings.Contains(checked, want) {
			t.Errorf("check does not say %q:\n%s", want, checked)
		}
	}
	ran := j.must("run", "-c", j.file, "--until-end", "--json")
	if n := strings.Count(ran, "changes of one version tie"); n != 1 {
		t.Errorf("%d warnings, expected one a minute:\n%s", n, ran)
	}
	if !strings.Contains(ran, "topic="+j.topic) || !strings.Contains(ran, `"ties":2`) {
		t.Errorf("run does not say how many tie, and which:\n%s", ran)
	}
	r, _ := j.verified(0, "--full")
	if r.Problems != 0 || r.Ties != 4 || r.Tables[0].Ties != 2 || r.Tables[1].Ties != 2 {
		t.Errorf("verify says %+v", r)
	}
}
