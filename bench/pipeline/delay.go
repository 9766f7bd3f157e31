package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/bench/measure"
	"brine/hbase"
)

const (
	delayTopic = "courier.delay"
	probes     = 400
	probePause = 20 * time.Millisecond
	probeLimit = 10 * time.Second // then the row is missing
	settleIn   = 15 * time.Second // for brine to have taken in what was published before it started, and to run as ever
	partitions = 8                // of a topic that brine publish makes
)

// delays are from just before an event is sent to Kafka until its row is read from HBase.
type delays struct {
	rate float64 // events/s that were published beside them
	ms   []float64
}

// at is the delay that a share of all kept; 1 is the longest.
func (d *delays) at(share float64) float64 {
	if len(d.ms) == 0 {
		return math.Inf(1)
	}
	slices.Sort(d.ms)
	return d.ms[max(0, int(math.Ceil(share*float64(len(d.ms))))-1)]
}

// delay publishes at half of the rate that was measured, and sends probes beside that.
func (b *bench) delay(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	x := examples[ours]
	if err := b.renew(ctx, x); err != nil {
		return err
	}
	text, err := os.ReadFile(x.file)
	if err != nil {
		return err
	}
	configuration := b.Path("delay.yaml")
	if err := os.WriteFile(configuration, bytes.ReplaceAll(text, []byte(topic), []byte(delayTopic)), 0o644); err != nil {
		return err
	}
	b.delays.rate = measure.Median(b.counted(ours), measure.Load.RowsPerSecond) / 2
	publish := b.command(ctx, configuration, "", "publish", "--topic", delayTopic, "--key", "waybill", "--rate", strconv.Itoa(int(b.delays.rate)), b.Path(eventsFile))
	if err := publish.Start(); err != nil {
		return err
	}
	defer func() {
		_ = publish.Process.Kill() // it has more than is needed
		_ = publish.Wait()
	}()
	client := &kafka.Client{Addr: kafka.TCP(b.kafka), Timeout: 10 * time.Second}
	if err := b.awaitTopic(ctx, client); err != nil {
		return err
	}
	run := b.command(ctx, configuration, "bench-delay", "run", "--quiet")
	_, ended, err := measure.StartBrine(run)
	if err != nil {
		return err
	}
	time.Sleep(settleIn)
	err = b.probe(ctx, client, x.table)
	return errors.Join(err, run.Process.Signal(syscall.SIGTERM), ended())
}

// awaitTopic waits until the topic can be written to.
func (b *bench) awaitTopic(ctx context.Context, client *kafka.Client) error {
	for range 600 {
		meta, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{delayTopic}})
		if err == nil && len(meta.Topics) == 1 && meta.Topics[0].Error == nil && len(meta.Topics[0].Partitions) == partitions {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("topic %s was not made", delayTopic)
}

// probe sends events one at a time and reads for the row of each.
func (b *bench) probe(ctx context.Context, client *kafka.Client, table string) error {
	for i := range probes {
		at := time.Now()
		waybill := fmt.Sprintf("probe-%d", i)
		value := fmt.Appendf(nil, `{"waybill":%q,"action":"DEPART","at":%d,"station":"JFK","courier":"N1"}`, waybill, at.UnixMilli())
		resp, err := client.Produce(ctx, &kafka.ProduceRequest{Topic: delayTopic, Partition: i % partitions, RequiredAcks: kafka.RequireAll,
			Records: kafka.NewRecordReader(kafka.Record{Key: kafka.NewBytes([]byte(waybill)), Value: kafka.NewBytes(value)})})
		if err == nil {
			err = resp.Error
		}
		if err != nil {
			return err
		}
		if err := b.await(ctx, table, row(waybill, at.UnixMilli()), at); err != nil {
			return err
		}
		b.delays.ms = append(b.delays.ms, float64(time.Since(at).Microseconds())/1000)
		time.Sleep(probePause)
	}
	return nil
}

// await reads a row until it is there.
func (b *bench) await(ctx context.Context, table string, row []byte, since time.Time) error {
	for time.Since(since) < probeLimit {
		got, err := b.Admin.Get(ctx, table, hbase.Get{Row: row})
		if err != nil {
			return err
		}
		if len(got.Cells) > 0 {
			return nil
		}
		time.Sleep(500 * time.Microsecond)
	}
	return fmt.Errorf("row %q is not there after %v", row, probeLimit)
}

// row is the key that examples/scans.yaml makes: md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action.
func row(waybill string, at int64) []byte {
	sum := md5.Sum([]byte(waybill))
	key := hex.AppendEncode(nil, sum[:2])
	key = append(append(key, waybill...), '|')
	key = binary.BigEndian.AppendUint64(key, uint64(math.MaxInt64-at))
	return append(key, "|DEPART"...)
}
