package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"brine/internal/sample"
)

type publishCmd struct {
	configFlag
	Files      []string `arg:"" name:"file" type:"existingfile" help:"JSON lines, also .gz."`
	Topic      string   `required:"" help:"Topic to publish to; it is created if it is missing."`
	Key        string   `required:"" placeholder:"FIELD" help:"Text field whose value becomes the record's key: records of one key stay in order."`
	Partitions int      `default:"8" help:"Partitions of a topic that is created."`
	Rate       int      `help:"Most records per second; 0 for no limit."`
}

// Help is shown under the command's own help.
func (publishCmd) Help() string {
	return `The files are a fixed sequence, so publishing can be stopped and begun again: a partition's end says how many of its
records are there. That holds for a topic into which nothing else is published.

Example:
  brine publish -c examples/scans.yaml --topic courier.scans --key waybill data/scans.jsonl.gz`
}

func (c *publishCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	client := kafkaClient(&cfg.Kafka)
	if err := createTopic(e.ctx, client, c.Topic, c.Partitions); err != nil {
		return kafkaError(err)
	}
	began, sent := time.Now(), 0
	p := publisher{client: client, topic: c.Topic, sent: func(n int) {
		if before := sent / 100_000; (sent+n)/100_000 > before {
			fmt.Fprintf(e.stderr, "%s records, %s/s\n", thousands(int64(sent+n)), thousands(int64(float64(sent+n)/time.Since(began).Seconds())))
		}
		sent += n
	}}
	if c.Rate > 0 {
		limit := rate.NewLimiter(rate.Limit(c.Rate), max(c.Rate/10, publishBatch))
		p.pause = func(ctx context.Context) error { return limit.WaitN(ctx, publishBatch) }
	}
	n, err := p.publish(e.ctx, keyed(lines(c.Files), c.Key))
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s records published to %s in %.1f s\n", thousands(int64(n)), c.Topic, time.Since(began).Seconds())
	return nil
}

// lines gives the lines of files, one behind the other.
func lines(files []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, name := range files {
			for line, err := range fileLines(name) {
				if !yield(line, err) || err != nil {
					return
				}
			}
		}
	}
}

// maxLine bounds a line.
const maxLine = sample.MaxLine

// fileLines gives the lines of a file, unpacked if it is gzipped; each is the caller's to keep.
func fileLines(name string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		file, err := os.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		lines := sample.Lines
		if strings.HasSuffix(name, ".gz") {
			lines = sample.Read
		}
		for line, err := range lines(file) {
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(line, err) {
				return
			}
		}
	}
}
