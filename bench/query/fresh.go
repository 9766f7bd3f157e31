package query

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/bench/measure"
)

const (
	freshRate = 5 // probes a second

	documents = ".documents" // suffix of the halves of brine run that index
	warm      = 20 * time.Second
	live      = 20 * time.Second
	calm      = 30 * time.Second // at half the rate, until the servers have finished deferred merges
)

// searchable runs brine and measures how many changes it indexes while more than that is published. Then it publishes at half that rate,
// and measures the time from just before an order is sent to Kafka until a search finds it. The rate of filling only the index is no
// measure for this, because here rows, the broker and the publisher take their share.
func (b *bench) searchable(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	most := int(b.detail.FullRate)
	file := b.Path("live.jsonl")
	if err := b.writeLive(file, most*int((warm+live+b.asking+2*calm)/time.Second)); err != nil {
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
	defer func() { _ = stop() }()
	run := b.command(ctx, "run", "--quiet")
	admin, ended, err := measure.StartBrine(run)
	if err != nil {
		return err
	}
	url := "http://" + admin
	var lag int
	b.detail.LiveRate, lag, err = measure.LiveRate(url, documents, warm, live)
	err = errors.Join(err, stop())
	if err == nil && lag == 0 {
		err = errors.New("brine indexes everything that is published, so its limit does not show")
	}
	if err == nil {
		err = measure.CaughtUp(url, 5*time.Minute)
	}
	if err == nil {
		stop, err = b.publish(ctx, file, max(1, int(b.detail.LiveRate/2)))
	}
	if err == nil {
		time.Sleep(calm)
		b.detail.Searchable, err = b.probe(ctx, client)
		err = errors.Join(err, stop())
	}
	return errors.Join(err, run.Process.Signal(syscall.SIGTERM), ended())
}

// publish sends the file's changes at a rate until stop is called.
func (b *bench) publish(ctx context.Context, file string, rate int) (stop func() error, err error) {
	return measure.Publish(b.command(ctx, "publish", "--alone", "--topic", ordersTopic, "--key", "order", "--rate", strconv.Itoa(rate), file))
}

// writeLive writes n changes of orders that are not yet in the index, because existing ones cost less: it repeats those of make data with
// different ids.
func (b *bench) writeLive(name string, n int) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	for pass := 1; n > 0; pass++ {
		for line, err := range b.apart {
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

// apart yields the first changes of all orders, then the second ones, and so on. Orders take days, and here two years of them are sent in a
// minute. In the original order, if more arrived than is indexed, many changes of one order would wait together and be written as one
// document, so half of that rate would need as many documents as all of it.
func (b *bench) apart(yield func([]byte, error) bool) {
	for nth, more := 1, true; more; nth++ {
		more = false
		seen := map[string]int{} // number of changes by order
		for line, err := range b.changes {
			if err != nil {
				yield(nil, err)
				return
			}
			order := text(line, "order")
			seen[order]++
			more = more || seen[order] > nth
			if seen[order] == nth && !yield(line, nil) {
				return
			}
		}
	}
}

// topics recreates the example's topics.
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
