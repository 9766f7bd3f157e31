package publish

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"strings"

	"golang.org/x/time/rate"

	"brine/ingest/offsets"
)

// Job publishes a source to a topic, and resumes where it stopped while that may help.
type Job struct {
	Options
	Topic      string
	Partitions int           // of the topic, if it is created
	Group      string        // prefix of the names of groups and transactions
	Name       string        // where progress is kept; empty: made of the topic and the files' names
	Rate       int           // maximum records per second; 0: no limit
	Again      bool          // publish everything again, even if it is done or begun
	Alone      bool          // nothing else publishes to the topic: an Appender does it, without transactions or Name
	Log        io.Writer     // receives what it waits for
	Sent       func(n int64) // called with the number of records added; nil: no call
}

// Create creates the topic if it is missing. It does not wait for brokers that cannot be reached at all: their address may be wrong.
func (j *Job) Create(ctx context.Context) error {
	client := offsets.Open(j.Kafka, j.RequestTimeout)
	defer client.Close()
	for p := (Patience{Limit: MaxWait, Log: j.Log}); ; {
		err := client.CreateTopic(ctx, j.Topic, j.Partitions)
		if !offsets.Answered(err) {
			return err
		}
		if err := p.Wait(ctx, err); err != nil {
			return err
		}
	}
}

// Publish puts the source's records into the topic, and returns how many were there before and how many it added.
func (j *Job) Publish(ctx context.Context, source *Source) (before, n int64, err error) {
	p := Patience{Limit: MaxWait, Log: j.Log}
	sent := func(n int64) {
		p.Moved()
		if j.Sent != nil {
			j.Sent(n)
		}
	}
	return p.Attempts(ctx, j.Again, func(again bool) (int64, int64, error) {
		if !j.Alone {
			return j.transactions(source.Files, sent).Publish(ctx, j.Options, source.Records(), again)
		}
		put, err := j.appender(sent).Publish(ctx, source.Records())
		n += int64(put)
		return 0, n, err
	})
}

func (j *Job) transactions(files []string, sent func(int64)) *Transactions {
	t := &Transactions{Topic: j.Topic, Name: j.Group + ".publish." + cmp.Or(j.Name, nameOf(j.Topic, files)), Sent: sent}
	if j.Rate > 0 {
		t.Limit = rate.NewLimiter(rate.Limit(j.Rate), max(1, j.Rate/100))
	}
	return t
}

func (j *Job) appender(sent func(int64)) *Appender {
	a := &Appender{Kafka: j.Kafka, RequestTimeout: j.RequestTimeout, Topic: j.Topic, Sent: func(n int) { sent(int64(n)) }}
	if j.Rate > 0 {
		limit := rate.NewLimiter(rate.Limit(j.Rate), max(j.Rate/10, AppendBatch))
		a.Pause = func(ctx context.Context) error { return limit.WaitN(ctx, AppendBatch) }
	}
	return a
}

// nameOf returns the name under which progress is kept if none is given: the same files find it again.
func nameOf(topic string, files []string) string {
	for _, file := range files {
		topic += "_" + filepath.Base(file)
	}
	return offsets.PlainName(strings.TrimSuffix(topic, ".gz"))
}
