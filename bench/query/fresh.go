package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/bench/measure"
	"brine/search"
)

const (
	freshRate  = 10 // probes a second
	probePoll  = 10 * time.Millisecond
	probeLimit = 30 * time.Second // then the document is missing
)

// searchable runs brine, publishes half of what was indexed at best, and measures from just before an order is sent to Kafka until a
// search finds it.
func (b *bench) searchable(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rate := strconv.Itoa(int(b.detail.FullRate / 2))
	publish := b.command(ctx, "publish", "--alone", "--topic", ordersTopic, "--key", "order", "--rate", rate, ordersFile)
	publish.Args = publish.Args[:len(publish.Args)-2] // publish reads no configuration
	if err := publish.Start(); err != nil {
		return err
	}
	published := make(chan error, 1)
	go func() { published <- publish.Wait() }() // ends with the process
	run := b.command(ctx, "run", "--quiet")
	_, ended, err := measure.StartBrine(run)
	if err != nil {
		return err
	}
	time.Sleep(2 * warmUp)
	address, err := b.Address("BRINE_REAL_KAFKA")
	if err != nil {
		return err
	}
	client := &kafka.Client{Addr: kafka.TCP(address), Timeout: 10 * time.Second}
	b.detail.Searchable, err = openLoop(ctx, freshRate, b.asking, func(ctx context.Context, i int) error { return b.probe(ctx, client, i) })
	select {
	case early := <-published:
		err = errors.Join(err, fmt.Errorf("the events were all published before the probes were done: publish more of them: %w", errors.Join(early, errors.ErrUnsupported)))
	default:
		_ = publish.Process.Kill() // it has more than is needed
		<-published
	}
	return errors.Join(err, run.Process.Signal(syscall.SIGTERM), ended())
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
