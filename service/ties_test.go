package service

import (
	"bytes"
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
		w := newTieWarnings("orders", "do this", nil, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
					return slog.Attr{}
				}
				return a
			}})))
		hooks := w.watch(sink.Hooks{Tie: func(sink.TieInfo) {}})
		see := func(table string, offset int64) {
			hooks.Tie(sink.TieInfo{Table: table, Row: []byte("o\x1b1"), Family: []byte("brief"), Qualifier: []byte("status"), Version: 7,
				Record: &event.Record{Topic: "shop.orders", Partition: 2, Offset: offset}, Partition: 1, Offset: 4})
		}
		for i := range int64(59) {
			see("orders", i)
			see("customers", i)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		see("orders", 60)
		hooks.Tie(sink.TieInfo{Table: "gone", Row: []byte("o1"), Record: &event.Record{Topic: "shop.orders"}, Offset: 3})
		const tie = `msg="changes tie in their version, so the order of application decides which wins; do this" pipeline=orders `
		want := tie + `table=orders cells=1 row=o\x1B1 column=brief:status version=7 topic=shop.orders records="1:4 and 2:0"` + "\n" +
			tie + `table=customers cells=1 row=o\x1B1 column=brief:status version=7 topic=shop.orders records="1:4 and 2:0"` + "\n" +
			tie + `table=orders cells=59 row=o\x1B1 column=brief:status version=7 topic=shop.orders records="1:4 and 2:60"` + "\n" +
			`msg="a delete and another change have the same version, and the delete wins; do this" pipeline=orders table=gone cells=1 row=o1 column="" version=0 topic=shop.orders records="0:3 and 0:0"` + "\n"
		if got := strings.ReplaceAll(out.String(), " \n", "\n"); got != want {
			t.Errorf("warned\n%s\nexpected\n%s", got, want)
		}
		if w.count() != 2*59+2 {
			t.Errorf("%d ties", w.count())
		}
	})
}
