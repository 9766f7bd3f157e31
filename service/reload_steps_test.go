package service_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	hbaseserver "brine/hbase/embedded"
	"brine/ingest"
	"brine/service"
	"brine/service/reload"
)

// TestNoStepOfAReloadHoldsUpOthers holds each step of a reload for as long as it takes a pipeline that the reload leaves alone to make new
// records durable: while the tables are checked, while the earlier configuration is stored, while what changes settles, and while its
// offsets are recorded. Nothing that the pipeline does waits for a step, so none makes a gap in its watermark, however long it lasts.
func TestNoStepOfAReloadHoldsUpOthers(t *testing.T) {
	for _, protocol := range []string{"classic", "consumer"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			noStepHoldsUpOthers(t, strings.Replace(lines, "group: brine,", "group: brine, group_protocol: "+protocol+",", 1))
		})
	}
}

func noStepHoldsUpOthers(t *testing.T, lines string) {
	r := startLines(t, lines)
	steady, published := r.Half("steady.rows"), 0
	var steps []string
	goesOn := func(step string) {
		t.Helper()
		steps = append(steps, step)
		r.publish("steady", published, 20)
		published += 20
		r.settled("steady.rows", int64(published))
	}
	goesOn("nothing")
	was := r.rebalances("steady.rows")
	hbase := r.on.servers.HBase()

	// The rows of moving are not written until the step "settle" is over.
	busy, refused := &hbaseserver.Exception{Class: "org.apache.hadoop.hbase.RegionTooBusyException"}, map[string]*hbaseserver.Exception{}
	regions, err := r.Client().Regions(t.Context(), "moving")
	if err != nil {
		t.Fatal(err)
	}
	for _, region := range regions {
		refused[string(region.Name)], refused[region.Encoded] = busy, busy
	}
	var full atomic.Bool
	full.Store(true)
	defer hbase.Control("Multi", func(q *hbaseserver.Request) *hbaseserver.Outcome {
		q.Keep()
		if full.Load() {
			return &hbaseserver.Outcome{Regions: refused}
		}
		return nil
	})()
	r.publish("moving", 0, 20)
	r.wait("moving has submitted all", func() bool { return r.metric("brine_ingest_submitted_events_total", "moving.rows") == 20 })

	at := make(chan heldStep)
	begin := func(s heldStep) {
		select {
		case at <- s:
		case <-t.Context().Done():
			close(s.over)
		}
	}
	r.storedAll()
	r.HoldMarks(func(name string) {
		s := heldStep{name, make(chan struct{})}
		begin(s)
		<-s.over
	})
	var checked atomic.Bool
	defer hbase.Control("GetTableDescriptors", func(q *hbaseserver.Request) *hbaseserver.Outcome {
		q.Keep()
		if checked.Swap(true) {
			return nil
		}
		s := heldStep{"check", make(chan struct{})}
		go begin(s)
		return &hbaseserver.Outcome{Until: s.over}
	})()

	r.write(strings.Replace(lines, "topic: moving\n", "topic: moving\n    when: 'n % 2 == 0'\n", 1))
	done := make(chan *reload.Result, 1)
	go func() {
		result, _ := r.Reload(t.Context(), service.Reloading{By: "the test"})
		done <- result
	}()
	for over, settled := false, false; !over; {
		select {
		case s := <-at:
			goesOn(s.name)
			close(s.over)
			if s.name == "keep" && !settled {
				settled = true
				r.wait("moving settles", func() bool {
					status, _ := r.Half("moving.rows").Running()
					return slices.ContainsFunc(status.Partitions, func(p ingest.PartitionStatus) bool { return p.State == ingest.Draining })
				})
				goesOn("settle")
				full.Store(false)
			}
		case result := <-done:
			if result == nil || result.Outcome != reload.Applied {
				t.Fatalf("%+v", result)
			}
			over = true
		}
	}
	goesOn("all is done")
	slices.Sort(steps)
	if want := []string{"all is done", "check", "keep", "keep", "keep", "mark", "mark", "nothing", "settle"}; !slices.Equal(steps, want) {
		t.Errorf("the steps were %q, want %q", steps, want)
	}
	if r.Half("steady.rows") != steady || r.rebalances("steady.rows") != was {
		t.Errorf("a pipeline that nothing concerns was stopped: %v rebalances, before %v", r.rebalances("steady.rows"), was)
	}
}

// heldStep is a step of a reload that lasts until it is over.
type heldStep struct {
	name string
	over chan struct{}
}
