package skew

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestLoadsOfTheClusterAreJoined(t *testing.T) {
	clock := newClock()
	c := NewCounter(Shape{}, clock.now)
	c.SetRegions(even(4))
	if rep := c.Report(); rep.Cluster != nil || len(rep.Warnings) != 0 {
		t.Fatalf("nothing is known of the cluster yet: %+v", rep)
	}
	var reads, writes [4]uint64
	report := func(servers int) {
		names := make([]string, servers)
		for i := range names {
			names[i] = fmt.Sprint("s", i)
		}
		list := []RegionLoad{{Region: "gone", Reads: 1e9}}
		for i, name := range []string{"r0", "r1", "r2", "r3"} {
			list = append(list, RegionLoad{Region: name, MB: int64(10 * i), Reads: reads[i], Writes: writes[i]})
		}
		c.SetLoads(names, list)
	}
	report(4)
	for range 20 { // r1 is read, others write r2
		clock.pass(15 * time.Second)
		reads[1] += 1500
		writes[2] += 3000
		for i := range reads {
			reads[i] += 15
			writes[i] += 15
		}
		report(4)
	}
	rep := c.Report()
	near := func(got, want float64) bool { return math.Abs(got-want) < 0.01*want }
	if l := rep.Regions[1].Cluster; l == nil || !near(l.Reads, 101) || !near(l.Writes, 1) || l.MB != 10 {
		t.Errorf("%+v", rep.Regions[1])
	}
	x := rep.Cluster
	if x == nil || x.Data.MaxMean != 2 || !near(x.Reads.MaxMean, 101.0/104*4) || !near(x.Writes.MaxMean, 201.0/204*4) || x.Age != 0 {
		t.Errorf("%+v", x)
	}
	reads, writes = [4]uint64{}, [4]uint64{150, 150, 150, 150} // the regions were reopened: their counts restart
	clock.pass(15 * time.Second)
	report(9)
	rep = c.Report()
	if l := rep.Regions[1].Cluster; l.Reads > 101 || l.Reads < 0 || l.Writes > 10 {
		t.Errorf("after they were opened again: %+v", l)
	}
	if len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], "4 regions and the cluster 9 servers") {
		t.Errorf("warnings: %q", rep.Warnings)
	}
	// There is one region on each of s0 to s3, and none on the others.
	if len(rep.Servers) != 9 || rep.ServerRegions.MaxMean != 9.0/4 || rep.Servers[8] != (Server{Name: "s8"}) {
		t.Errorf("servers without a region count: %+v %+v", rep.ServerRegions, rep.Servers)
	}
	clock.pass(time.Minute) // the cluster does not answer
	if rep = c.Report(); rep.Cluster.Age != 60 || rep.Regions[1].Cluster == nil {
		t.Errorf("old loads say how old they are: %+v", rep.Cluster)
	}
}

func TestGoldenCaseHasItsHotRegion(t *testing.T) {
	clock := newClock()
	tables := NewTables(clock.now)
	c := tables.Counter("scans", Shape{})
	list := make([]Region, 4)
	for i, start := range []string{"", "4000", "8000", "c000"} {
		list[i] = Region{Name: "r" + start, ID: 1, Start: Key(start), Server: "s"}
		if i > 0 {
			list[i-1].End = list[i].Start
		}
	}
	c.SetRegions(list)
	rows := []int64{299_292, 245_744, 515_290, 240_297}
	for second := range int64(100) {
		for i, n := range rows {
			c.put(list[i], n*(second+1)/100-n*second/100)
		}
		clock.pass(time.Second)
		tables.Observe()
	}
	rep := c.Report()
	if x := rep.Total; math.Abs(x.MaxMean-1.585) > 0.0005 || math.Abs(x.CV-0.345) > 0.0005 || math.Abs(x.Gini-0.169) > 0.0005 {
		t.Errorf("%+v", x)
	}
	spots := tables.Advise()
	if len(spots) != 1 || string(spots[0].Region.Start) != "8000" || spots[0].Severity != "notice" {
		t.Errorf("%+v", spots)
	}
}
