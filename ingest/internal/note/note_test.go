package note

import (
	"strings"
	"testing"

	"brine/ingest/internal/broker"
)

func FuzzNote(f *testing.F) {
	f.Add("", int64(-1), 0, false, "")
	f.Add("", int64(0), 17, false, "topic-id=AAAAAAAAAAAAAAAAAAAAAA")
	f.Add("1f@17", int64(150), 3, true, "rejected=4 x")
	f.Add("1f@17", int64(-1), 0, true, "topic-id=AAAAAAAAAAAAAAAAAAAAAA")
	f.Add("1f@17", int64(7), 0, true, "")
	f.Add("\n", int64(-1), 0, false, "")
	f.Add("", int64(-1), 4, true, " ")
	f.Add("", int64(-1), 0, false, "moved")
	f.Add("", int64(-1), 0, false, "moves")
	f.Fuzz(func(t *testing.T, reader string, reach int64, n int, moved bool, mark string) {
		Read(mark) // it may contain anything
		word, _, _ := strings.Cut(mark, " ")
		if n < 0 || strings.HasPrefix(mark, rejectedMark) || strings.HasPrefix(mark, readerMark) || strings.HasPrefix(mark, reachMark) ||
			word == movedMark || strings.Contains(reader, " ") {
			return
		}
		was := Note{Reader: reader, Over: reach >= 0, Reach: max(0, reach), Rejected: n, Moved: moved, Topic: mark}
		if got := Read(was.String()); got != was {
			t.Errorf("%+v comes back as %+v", was, got)
		}
	})
}

// TestMoved checks what is still known of a partition once its offset has been set, once or twice: who has read it, and how far it may be
// written if that was said, whichever way it was moved. Of another topic's offsets nothing is said.
func TestMoved(t *testing.T) {
	topic := broker.Topic{Partitions: 1}
	for now, want := range map[broker.Commit]string{
		{}: "moved",
		{Offset: 100, Metadata: "reader=one reach=100 rejected=7"}:       "reader=one reach=100 moved",
		{Offset: 100, Metadata: "reader=one reach=150"}:                  "reader=one reach=150 moved",
		{Offset: 10, Metadata: "reader=one reach=100 moved"}:             "reader=one reach=100 moved", // back before
		{Offset: 200, Metadata: "reader=one reach=100 moved"}:            "reader=one reach=100 moved", // forward before
		{Offset: 100, Metadata: "reader=one"}:                            "reader=one moved",
		{Offset: 100, Metadata: "reader=one>two@7 reach=100"}:            "reader=one>two@7 reach=100 moved",
		{Offset: 100, Metadata: "committed by a program"}:                "moved",
		{Offset: 100, Metadata: "reader=one reach=100 moved topic-id=x"}: "reader=one reach=100 moved",
	} {
		if got := Moved(now, topic).String(); got != want {
			t.Errorf("%+v is set as %q, want %q", now, got, want)
		}
	}
}
