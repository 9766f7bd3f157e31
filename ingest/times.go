package ingest

import "brine/event"

// Times are the timestamps of records, in milliseconds, of those that have one. A flight's are taken while its records are at hand:
// once they are durable, reading them again would fetch each from memory.
type Times struct {
	Count       int
	First, Last int64
	Sum         int64
}

// TimesOf returns the timestamps of records.
func TimesOf(records []event.Record) (t Times) {
	for i := range records {
		at := records[i].Timestamp
		if at <= 0 {
			continue
		}
		if t.Count == 0 || at < t.First {
			t.First = at
		}
		t.Last = max(t.Last, at)
		t.Sum += at
		t.Count++
	}
	return t
}
