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

	documents = ".documents" // the halves of brine run that index
	warm      = 20 * time.Second
	live      = 20 * time.Second
	calm      = 30 * time.Second // at half the rate, until the servers have merged what they put off
)

// searchable runs brine and measures how many changes it indexes while more than that is published; then it publishes half of that,
// and measures from just before an order is sent to Kafka until a search finds it. Filling the index alone is no measure for this:
// rows, the broker and the publisher take their share here.
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
		err = errors.New("brine indexes all that is published: nothing shows what it could")
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

// publish sends the file's changes at a rate until stop.
func (b *bench) publish(ctx context.Context, file string, rate int) (stop func() error, err error) {
	return measure.Publish(b.command(ctx, "publish", "--alone", "--topic", ordersTopic, "--key", "order", "--rate", strconv.Itoa(rate), file))
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

// apart are the first changes of all orders, then the second ones, and so on: orders take days, and two years of them are sent in a
// minute. Else many changes of one order would wait together when more comes than is indexed, and be written as one document; half of
// that rate would then be no fewer documents than all of it.
func (b *bench) apart(yield func([]byte, error) bool) {
	for nth, more := 1, true; more; nth++ {
		more = false
		seen := map[string]int{} // changes by order
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

// topics makes the example's topics again.
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
