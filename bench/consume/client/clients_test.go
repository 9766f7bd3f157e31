package main

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/ingest/embedded"
)

// Clients read every record of a topic.
func TestClientsReadAll(t *testing.T) {
	const partitions, records = 2, 100
	kafka, err := embedded.Start(kfake.NumBrokers(1), kfake.Ports(0), kfake.SeedTopics(partitions, "scans"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	read := topic{broker: kafka.ListenAddrs()[0], name: "scans", partitions: partitions, records: records}
	producer, err := kgo.NewClient(kgo.SeedBrokers(read.broker), kgo.DefaultProduceTopic(read.name), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(producer.Close)
	for i := range records {
		r := kgo.StringRecord(fmt.Sprintf(`{"waybill":"w%d","at":%d,"station":"s","action":"a","courier":"c"}`, i, i))
		r.Partition = int32(i % partitions)
		if err := producer.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			if err := client(t.Context(), read); err != nil {
				t.Error(err)
			}
		})
	}
}
