package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// exit runs a brine process and returns its output and exit code.
func (j *job) exit(args ...string) (string, int) {
	j.t.Helper()
	out, err := j.command(args...).CombinedOutput()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		j.t.Fatal(err)
	}
	if exited != nil {
		return string(out), exited.ExitCode()
	}
	return string(out), exitOK
}

func (j *job) send(partition int, value string) {
	j.t.Helper()
	j.sendAt(partition, value, time.Now())
}

func (j *job) sendAt(partition int, value string, at time.Time) {
	j.t.Helper()
	j.sendKeyed(partition, nil, value, at)
}

func (j *job) sendKeyed(partition int, key []byte, value string, at time.Time) {
	j.t.Helper()
	resp, err := j.client().Produce(j.t.Context(), &kafka.ProduceRequest{Topic: j.topic, Partition: partition, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(kafka.Record{Key: kafka.NewBytes(key), Value: kafka.NewBytes([]byte(value)), Time: at})})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		j.t.Fatal(err)
	}
}

// deleteRecords deletes the records of a partition before an offset.
func (j *job) deleteRecords(partition int32, before int64) {
	j.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(j.brokers...))
	if err != nil {
		j.t.Fatal(err)
	}
	defer client.Close()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 10_000
	req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: j.topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: before}}}}
	for _, shard := range client.RequestSharded(j.t.Context(), req) {
		if shard.Err != nil {
			j.t.Fatal(shard.Err)
		}
		if low := shard.Resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].LowWatermark; low != before {
			j.t.Fatalf("partition %d now begins at %d, expected %d", partition, low, before)
		}
	}
}

// configureTopic sets a setting of a topic, and waits until the broker applies it, because the broker acknowledges earlier.
func configureTopic(t *testing.T, brokers []string, topic, name, value string) {
	t.Helper()
	transport := &kafka.Transport{} // the usual one remembers for a while that there was no such topic
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(brokers...), Transport: transport}
	resp, err := client.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
		Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet}},
	}}})
	if err == nil {
		err = resp.Resources[0].Error
	}
	if err != nil {
		t.Fatal(err)
	}
	for {
		now, err := client.DescribeConfigs(t.Context(), &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
			{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{name}}}})
		if err == nil {
			err = now.Resources[0].Error
		}
		if err != nil {
			t.Fatal(err)
		}
		if entries := now.Resources[0].ConfigEntries; len(entries) == 1 && entries[0].ConfigValue == value {
			return
		}
		wait(t, 10*time.Millisecond)
	}
}

// lastObject decodes the last JSON line.
func lastObject[T any](t *testing.T, out string) (v T) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &v); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return v
}

// startBroker is the script command `broker TOPIC N [DELETED]`: a Kafka with N records in each of two partitions of a topic, with the first
// DELETED ones of partition 1 deleted. The environment then names it.
func startBroker(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: broker TOPIC RECORDS DELETED")
	}
	records, err := strconv.Atoi(args[1])
	ts.Check(err)
	deleted, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, args[0]))
	ts.Check(err)
	ts.Defer(cluster.Close)
	transport := &kafka.Transport{} // the usual one remembers the topics of a broker that had the same port
	ts.Defer(transport.CloseIdleConnections)
	client := &kafka.Client{Addr: kafka.TCP(cluster.ListenAddrs()...), Transport: transport}
	for partition := range 2 {
		batch := make([]kafka.Record, records)
		for i := range batch {
			batch[i] = kafka.Record{Value: kafka.NewBytes([]byte(`{"id":"a","at":1356998400000}`)), Time: time.UnixMilli(1356998400000 + int64(i)*1000)}
		}
		resp, err := client.Produce(context.Background(), &kafka.ProduceRequest{Topic: args[0], Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(batch...)})
		ts.Check(err)
		ts.Check(resp.Error)
	}
	if deleted > 0 {
		ts.Check(cluster.DeleteRecords(args[0], 1, deleted))
	}
	ts.Setenv("BRINE_KAFKA_BROKERS", strings.Join(cluster.ListenAddrs(), ","))
}
