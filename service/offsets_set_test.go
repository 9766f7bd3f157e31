package service_test

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"brine/config"
	"brine/ingest/offsets"
	"brine/service"
	"brine/service/brokers"
	"brine/service/devstack"
	"brine/verify"
)

// setOffsets sets the offsets of moving.rows, which does not run, as brine offsets set and the operators' API do.
func (r *reloadable) setOffsets(to string) {
	r.t.Helper()
	cfg := r.Config()
	client := brokers.Open(&cfg.Kafka)
	defer client.Close()
	halves := slices.DeleteFunc(cfg.Halves(), func(h config.Half) bool { return h.Name() != "moving.rows" })
	groups, err := brokers.Groups(r.t.Context(), client, cfg, halves, "")
	if err != nil {
		r.t.Fatal(err)
	}
	then, err := client.Target(r.t.Context(), groups[0].Group, to, time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	moves, err := groups[0].Moves(then, nil)
	if err != nil || len(moves) != devstack.Partitions {
		r.t.Fatalf("%d moves to %s, %v", len(moves), to, err)
	}
	if _, err := brokers.SetAll(r.t.Context(), client, groups, [][]offsets.Move{moves}); err != nil {
		r.t.Fatal(err)
	}
}

// setOffsetsElsewhere sets the offsets of moving.rows as Kafka's own tools do, without a note.
func (r *reloadable) setOffsetsElsewhere(offset int64) {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.Config().Kafka.Brokers...), kgo.MaxVersions(kversion.V3_0_0()))
	if err != nil {
		r.t.Fatal(err)
	}
	defer client.Close()
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Group, q.Generation = "brine.moving.rows", -1
	of := kmsg.NewOffsetCommitRequestTopic()
	of.Topic = "moving"
	for id := range int32(devstack.Partitions) {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = id, offset
		of.Partitions = append(of.Partitions, p)
	}
	q.Topics = append(q.Topics, of)
	answer, err := q.RequestWith(r.t.Context(), client)
	if err != nil || answer.Topics[0].Partitions[0].ErrorCode != 0 {
		r.t.Fatalf("%+v, %v", answer, err)
	}
}

// TestRowsOfTheEarlierFilterOutliveOffsetsThatAreSet sets the offsets of a stopped half and starts it with another filter. Rows that the
// earlier filter kept, of records that are read again or not, are not extra, and --delete-extra deletes none of them.
func TestRowsOfTheEarlierFilterOutliveOffsetsThatAreSet(t *testing.T) {
	const each = devstack.Partitions
	for name, c := range map[string]struct {
		set     func(r *reloadable)
		reads   int64 // offsets of a partition that are read then
		unknown int64 // and how many of them either filter may have written
	}{
		"forward":          {func(r *reloadable) { r.setOffsets("+2") }, 3, 0},
		"back":             {func(r *reloadable) { r.setOffsets("-4") }, 9, 4},
		"to the beginning": {func(r *reloadable) { r.setOffsets("earliest") }, 15, 10},
		"to the end":       {func(r *reloadable) { r.setOffsets("latest") }, 0, 0},
		"twice":            {func(r *reloadable) { r.setOffsets("earliest"); r.setOffsets("+3") }, 12, 7},
		"by another tool":  {func(r *reloadable) { r.setOffsetsElsewhere(6) }, 9, 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startOn(t, embeddedGround(t), lines, service.Options{Halves: []string{"moving.rows"}})
			r.publish("moving", 0, 10*each)
			r.settled("moving.rows", 10*each)
			r.storedAll()
			r.stop()
			r.publish("moving", 10*each, 5*each) // nobody has read these when the offsets are set
			c.set(r)
			r.write(thirds(lines))
			r.startAgain()
			r.settled("moving.rows", c.reads*each)
			r.publish("moving", 15*each, 5*each)
			r.settled("moving.rows", (c.reads+5)*each)
			rows := r.rows("moving")
			check := r.checkOf(false, "moving.rows")
			report := ran(t, check)
			if report.Count(verify.Extra) > 0 || report.Sources[0].Unknown != c.unknown*each {
				t.Errorf("%d rows are extra, and either filter may have written %d offsets, want %d", report.Count(verify.Extra),
					report.Sources[0].Unknown, c.unknown*each)
			}
			if n, err := check.DeleteExtra(t.Context()); n != 0 || err == nil || r.rows("moving") != rows {
				t.Errorf("%d rows were deleted, %v", n, err)
			}
		})
	}
}

// TestRowsOfTheFilterOutliveOffsetsThatAreSetBackBehindIt sets the offsets back to before the place from which on the present filter reads.
// What it keeps of the records before, and the earlier filter has left out, is not extra.
func TestRowsOfTheFilterOutliveOffsetsThatAreSetBackBehindIt(t *testing.T) {
	t.Parallel()
	const each = devstack.Partitions
	r := startOn(t, embeddedGround(t), thirds(lines), service.Options{Halves: []string{"moving.rows"}})
	r.publish("moving", 0, 10*each)
	r.settled("moving.rows", 10*each)
	r.storedAll()
	r.stop()
	r.write(lines)
	r.startAgain()
	r.publish("moving", 10*each, 5*each)
	r.settled("moving.rows", 5*each)
	r.stop()
	r.setOffsets("0:4,1:4,2:4,3:4")
	r.startAgain()
	r.settled("moving.rows", 11*each)
	report := ran(t, r.checkOf(false, "moving.rows"))
	if report.Problems() > 0 || report.Sources[0].Unknown != 6*each {
		t.Errorf("found %+v, want %d offsets that either filter may have written", report, 6*each)
	}
}
