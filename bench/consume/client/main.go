// Command client reads a topic to its end, with brine's loop or with kafka-go, and reports its time and cost. bench/consume runs it;
// nothing imports it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"brine/bench/measure"
)

func main() {
	t := topic{}
	client := flag.String("client", "", "what reads: brine, kafka-go-reader or kafka-go-fetch")
	flag.StringVar(&t.broker, "kafka", "", "host:port of the broker")
	flag.StringVar(&t.name, "topic", "", "topic")
	flag.IntVar(&t.partitions, "partitions", 4, "its partitions")
	flag.Int64Var(&t.records, "events", 2_000_000, "its records")
	flag.Parse()
	if err := t.read(*client); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// topic is the topic to read.
type topic struct {
	broker, name string
	partitions   int
	records      int64
}

// read is one load: it reports its beginning, and its cost.
func (t topic) read(client string) error {
	read, ok := clients[client]
	if !ok {
		return fmt.Errorf("no client %q", client)
	}
	return measure.Say(func() error { return read(context.Background(), t) })
}
