package pipeline

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
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"brine/bench/measure"
	"brine/hbase"
)

const (
	delayTopic  = "courier.delay"
	delayGroup  = "bench-delay"
	delayEvents = "delay.jsonl"
	partitions  = 8 // of a topic that brine publish creates

	warm     = 8 * time.Second // until what has just started runs normally
	live     = 10 * time.Second
	liveMore = 3 // multiple of a load's events that the delay may need

	probes     = 400
	probeEvery = 50 * time.Millisecond // however long the earlier ones take
	probePoll  = 2 * time.Millisecond
	probeCoast = 50               // a row is read again after this fraction of the time that it has taken so far, if that is longer
	probeLimit = 60 * time.Second // after that, the row is missing
)

// delay is the time from just before an event is sent to Kafka until its row is read from HBase.
type delay struct {
	Java     string               `json:"hbase_java"` // flags of HBase's JVM
	Live     float64              `json:"live_rate"`  // events/s settled while more than that was published
	Rate     float64              `json:"rate"`       // events/s published besides the probes: half of Live
	Steady   measure.Milliseconds `json:"ms"`
	Flushing measure.Milliseconds `json:"flushing_ms"` // while the server flushes all regions of the table
}

// take measures how much is settled while events are published as fast as they were ever written. Then it publishes at half that rate and
// sends probes, once without and once with a flush of the server. Before that, it flushes what the first part left in the server's memory.
// The rates of loads whose events had all been published before do not measure this.
func (d *delay) take(ctx context.Context, b *bench) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := b.load(ctx, ours, 0); err != nil {
		return err
	}
	x := examples[ours]
	if err := b.renew(ctx, x); err != nil {
		return err
	}
	configuration, err := b.delayExample(x)
	if err != nil {
		return err
	}
	stop, err := b.publish(ctx, configuration, b.report.Loads[len(b.report.Loads)-1].RowsPerSecond())
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	client := &kafka.Client{Addr: kafka.TCP(b.kafka), Timeout: 10 * time.Second}
	if err := b.awaitTopic(ctx, client); err != nil {
		return err
	}
	run := b.command(ctx, configuration, delayGroup, "run", "--quiet")
	address, ended, err := measure.StartBrine(run)
	if err != nil {
		return err
	}
	url := "http://" + address
	d.Live, _, err = measure.LiveRate(url, "", warm, live)
	d.Rate = d.Live / 2
	err = errors.Join(err, stop())
	if err == nil {
		err = measure.CaughtUp(url, time.Minute)
	}
	if err == nil {
		err = errors.Join(b.Admin.FlushTable(ctx, x.table), measure.Pause(b.Server))
	}
	if err == nil {
		stop, err = b.publish(ctx, configuration, d.Rate)
	}
	if err == nil {
		time.Sleep(warm)
		d.Steady, err = b.probe(ctx, client, x.table)
	}
	if err == nil {
		flushed := make(chan error, 1)
		go func() { flushed <- b.Admin.FlushTable(ctx, x.table) }()
		d.Flushing, err = b.probe(ctx, client, x.table)
		err = errors.Join(err, <-flushed, stop())
	}
	return errors.Join(err, run.Process.Signal(syscall.SIGTERM), ended())
}

// delayExample writes a copy of the example with its own topic, and the events that are published there.
func (b *bench) delayExample(x example) (configuration string, err error) {
	text, err := os.ReadFile(x.file)
	if err != nil {
		return "", err
	}
	configuration = b.Path("delay.yaml")
	if err := os.WriteFile(configuration, bytes.ReplaceAll(text, []byte(topic), []byte(delayTopic)), 0o644); err != nil {
		return "", err
	}
	return configuration, measure.WriteScans(b.Path(delayEvents), liveMore*b.events)
}

// publish sends the events at a rate until stop is called.
func (b *bench) publish(ctx context.Context, configuration string, rate float64) (stop func() error, err error) {
	return measure.Publish(b.command(ctx, configuration, "", "publish", "--alone", "--topic", delayTopic, "--key", "waybill", "--rate",
		strconv.Itoa(int(rate)), b.Path(delayEvents)))
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
	return fmt.Errorf("topic %s was not created", delayTopic)
}

// probe sends events, one each probeEvery, and reads until the row of each is there.
func (b *bench) probe(ctx context.Context, client *kafka.Client, table string) (delays measure.Milliseconds, err error) {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for i := range probes {
		<-tick.C
		g.Go(func() error {
			at := time.Now()
			if err := b.probeOnce(ctx, client, table, i, at); err != nil {
				return err
			}
			took := time.Since(at)
			mu.Lock()
			defer mu.Unlock()
			delays.Add(took)
			return nil
		})
	}
	err = g.Wait()
	return delays, err
}

func (b *bench) probeOnce(ctx context.Context, client *kafka.Client, table string, i int, at time.Time) error {
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
	return b.await(ctx, table, row(waybill, at.UnixMilli()), at)
}

// await reads a row until it is there, less and less often. Otherwise, rows that wait for an overloaded server would add a hundred thousand
// reads per second to its load, and none of them would ever arrive.
func (b *bench) await(ctx context.Context, table string, row []byte, since time.Time) error {
	for time.Since(since) < probeLimit {
		got, err := b.Admin.Get(ctx, table, hbase.Get{Row: row})
		if err != nil {
			return err
		}
		if len(got.Cells) > 0 {
			return nil
		}
		time.Sleep(max(probePoll, time.Since(since)/probeCoast))
	}
	return fmt.Errorf("row %q was not found after %v", row, probeLimit)
}

// row returns the key that examples/scans.yaml makes: md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action.
func row(waybill string, at int64) []byte {
	sum := md5.Sum([]byte(waybill))
	key := hex.AppendEncode(nil, sum[:2])
	key = append(append(key, waybill...), '|')
	key = binary.BigEndian.AppendUint64(key, uint64(math.MaxInt64-at))
	return append(key, "|DEPART"...)
}
