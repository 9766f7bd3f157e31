package simulate

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// checkLetters reads the dead letters: each record that cannot be written must be there whole, and no other. Invariant 2.
func (w *World) checkLetters(ctx context.Context) {
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.ListenAddrs()...), kgo.Dialer(w.net.NewAside("reader").Dial),
		kgo.ConsumeTopics(deadTopic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		w.ledger.find("0: reading the dead letters: %v", err)
		return
	}
	defer client.Close()
	found := map[position]bool{}
	end := w.kafka.PartitionInfo(deadTopic, 0).HighWatermark
	for read := int64(0); read < end; {
		fetched := client.PollFetches(ctx)
		if err := fetched.Err0(); err != nil {
			w.ledger.find("0: reading the dead letters: %v", err)
			return
		}
		for _, r := range fetched.Records() {
			read = r.Offset + 1
			w.checkLetter(r, found)
		}
	}
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	for p, records := range w.ledger.records {
		for offset, r := range records {
			if at := (position{p, int64(offset)}); r.poison != "" && !found[at] {
				w.ledger.note("1: the record at %v, %s, is neither written nor buried", at, r.poison)
			}
		}
	}
	w.counts.Letters = len(found)
}

func (w *World) checkLetter(r *kgo.Record, found map[position]bool) {
	var headers []kmsg.Header
	for _, h := range r.Headers {
		headers = append(headers, kmsg.Header{Key: h.Key, Value: h.Value})
	}
	at, ok := placeOf(headers)
	if !ok {
		w.ledger.find("2: a dead letter at %d without its record's place", r.Offset)
		return
	}
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	found[at] = true
	switch of := w.ledger.records[at.partition][at.offset]; {
	case of.poison == "":
		w.ledger.note("2: the record at %v is buried, and can be written: %q", at, r.Headers)
	case string(r.Value) != string(of.value) || string(r.Key) != of.key || (r.Value == nil) != (of.value == nil):
		w.ledger.note("2: the letter of %v is not its record: %q, %q", at, r.Value, of.value)
	}
}
