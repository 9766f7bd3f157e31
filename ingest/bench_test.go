package ingest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
)

// nothing is a Writer that accepts everything at once.
type nothing struct{}

func (nothing) Submit(context.Context, *event.Batch) event.Flight { return event.Done(nil) }
func (nothing) Release()                                          {}
func (nothing) Hurry()                                            {}

const scan = `{"waybill":"SF1000000%07d","at":1373%09d,"station":"JFK-03","action":"arrived","courier":"c-%05d","lat":40.6413,"lon":-73.7781,"remark":"handed over at gate 12, two parcels, one of them wet"}`

var scanSchema = event.Schema{Version: 1, Fields: []event.Field{
	{Name: "waybill", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "station", Type: event.Text}, {Name: "action", Type: event.Text}, {Name: "courier", Type: event.Text},
}}

const benchRecords, benchPartitions = 200_000, 2

func benchBroker(b *testing.B, codec kgo.CompressionCodec) *fakeKafka {
	br := newBroker(b, benchPartitions)
	client := br.newClient(kgo.ProducerBatchCompression(codec))
	for from := 0; from < benchRecords; from += 10_000 {
		var records []*kgo.Record
		for i := from; i < from+10_000; i++ {
			records = append(records, &kgo.Record{Topic: topic, Partition: int32(i % benchPartitions), Timestamp: time.UnixMilli(1_373_000_000_000), Value: fmt.Appendf(nil, scan, i, i, i%1000)})
		}
		if err := client.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
			b.Fatal(err)
		}
	}
	return br
}

// BenchmarkConsume runs the loop with a writer that does nothing: only consuming and decoding. The broker (kfake) runs in this process and
// takes its share of the CPU.
func BenchmarkConsume(b *testing.B) {
	for name, codec := range map[string]kgo.CompressionCodec{"plain": kgo.NoCompression(), "lz4": kgo.Lz4Compression()} {
		b.Run(name, func(b *testing.B) {
			br := benchBroker(b, codec)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				o := br.options(nothing{})
				o.Schema, o.Group = scanSchema, fmt.Sprint(group, i)
				var settled atomic.Int64
				done := make(chan struct{})
				o.Hooks.Settled = func(i SettledInfo) {
					if settled.Add(int64(i.Records)) == benchRecords {
						close(done)
					}
				}
				l := start(b, o)
				<-done
				b.StopTimer()
				l.stop()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N)*benchRecords/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
