package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/bench/measure"
	"brine/search"
)

const (
	freshRate  = 5                     // probes a second
	probePoll  = 50 * time.Millisecond // each search costs the server what it could index with
	probeLimit = 30 * time.Second      // then the document is missing

	documents = ".documents" // the halves of brine run that index
	warm      = 10 * time.Second
	live      = 15 * time.Second
)

// searchable runs brine and measures how many changes it indexes while more than that is published; then it publishes half of that, and measures
// from just before an order is sent to Kafka until a search finds it. Filling the index alone is no measure for this: rows, the broker and the
// publisher take their share here.
func (b *bench) searchable(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	most := int(b.detail.FullRate)
	file := b.Path("live.jsonl")
	if err := b.writeLive(file, most*int((warm+live+b.asking+10*warmUp)/time.Second)); err != nil {
		return err
	}
	address, err := b.Address("BRINE_REAL_KAFKA")
	if err != nil {
		return err
	}
	client := &kafka.Client{Addr: kafka.TCP(address), Timeout: 10 * time.Second}
	if err := b.topics(ctx, client); err != nil {
		return err
	}
	stop, err := b.publish(ctx, file, most)
	if err != nil {
		return err
	}
	defer func() { stop() }()
	run := b.command(ctx, "run", "--quiet")
	admin, ended, err := measure.StartBrine(run)
	if err != nil {
		return err
	}
	err = b.liveRate("http://" + admin)
	stop()
	if err == nil {
		err = caughtUp("http://" + admin)
	}
	if err == nil {
		stop, err = b.publish(ctx, file, max(1, int(b.detail.LiveRate/2)))
	}
	if err == nil {
		time.Sleep(2 * warmUp)
		b.detail.Searchable, err = openLoop(ctx, freshRate, b.asking, func(ctx context.Context, i int) error { return b.probe(ctx, client, i) })
	}
	return errors.Join(err, run.Process.Signal(syscall.SIGTERM), ended())
}

// publish sends the file's changes at a rate until stop, going on where the topic ends.
func (b *bench) publish(ctx context.Context, file string, rate int) (stop func(), err error) {
	cmd := b.command(ctx, "publish", "--alone", "--topic", ordersTopic, "--key", "order", "--rate", strconv.Itoa(rate), file)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill() // it has more than is needed
		_ = cmd.Wait()
	}, nil
}

// liveRate measures how many changes are indexed while more are published.
func (b *bench) liveRate(url string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	time.Sleep(warm)
	from, _, err := measure.Settled(client, url, documents)
	if err != nil {
		return err
	}
	began := time.Now()
	time.Sleep(live)
	to, lag, err := measure.Settled(client, url, documents)
	if err == nil && lag == 0 {
		return errors.New("brine indexes all that is published: nothing shows what it could")
	}
	b.detail.LiveRate = float64(to-from) / time.Since(began).Seconds()
	return err
}

// caughtUp waits until everything that was published is settled.
func caughtUp(url string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	for range 3000 {
		if n, lag, err := measure.Settled(client, url, ""); err != nil || n > 0 && lag == 0 {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("brine does not catch up within five minutes")
}

// writeLive writes n changes of orders that are not in the index yet, since one that is there costs less: those of make data again and
// again, each time with other ids.
func (b *bench) writeLive(name string, n int) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	for pass := 1; n > 0; pass++ {
		for line, err := range b.changes {
			if err != nil {
				return err
			}
			if n--; n < 0 {
				break
			}
			fmt.Fprintf(w, "%s\n", bytes.Replace(line, []byte(`"order":"`), fmt.Appendf(nil, `"order":"%d-`, pass), 1))
		}
	}
	return w.Flush()
}

// topics makes the example's topics anew.
func (b *bench) topics(ctx context.Context, client *kafka.Client) error {
	var topics []kafka.TopicConfig
	for _, p := range b.cfg.Pipelines {
		topics = append(topics, kafka.TopicConfig{Topic: p.Topic, NumPartitions: 8, ReplicationFactor: 1})
	}
	made, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: topics})
	if err != nil {
		return err
	}
	for _, t := range topics {
		err = errors.Join(err, made.Errors[t.Topic])
	}
	return err
}

// probe sends an order of its own, and searches for it until it is found.
func (b *bench) probe(ctx context.Context, client *kafka.Client, i int) error {
	at := time.Now()
	order := fmt.Sprintf("probe-%d-%d", at.Unix(), i)
	value := fmt.Appendf(nil, `{"order":%q,"user":"probe","created":%d,"at":%[2]d,"status":"created","items":"probe"}`, order, at.UnixMilli())
	resp, err := client.Produce(ctx, &kafka.ProduceRequest{Topic: ordersTopic, Partition: 0, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(kafka.Record{Key: kafka.NewBytes([]byte(order)), Value: kafka.NewBytes(value)})})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		return err
	}
	q := search.Query{Index: ordersIndex, Size: 1, Filter: []search.Clause{search.Term{Field: "order", Value: order}}}
	for time.Since(at) < probeLimit {
		page, err := b.engine.Search(ctx, q)
		if err != nil || len(page.Hits) > 0 {
			return err
		}
		time.Sleep(probePoll)
	}
	return fmt.Errorf("order %s is not found after %v", order, probeLimit)
}
