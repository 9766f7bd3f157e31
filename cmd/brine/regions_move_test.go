package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/schema/regions"
)

// TestARegionIsMovedAndItsLoadShown moves a region from server to server, and finds it there with what was written to it.
func TestARegionIsMovedAndItsLoadShown(t *testing.T) {
	t.Parallel()
	servers, _ := ownStack(t, embedded.Options{Dir: t.TempDir(), Servers: 3})
	j := newJob(t, servers)
	const records = 40
	for i := range records {
		j.send(i%devPartitions, fmt.Sprintf(`{"waybill":"W-1","action":"A%d","at":%d,"station":"X"}`, i, time.Now().UnixMilli()))
	}
	j.must("run", "-q", "-c", j.file, "--until-end")
	list := func() (all []regions.Region) {
		var out struct{ Regions []regions.Region }
		if err := json.Unmarshal([]byte(j.must("regions", "ls", "--json", "-c", j.file, j.table)), &out); err != nil {
			t.Fatal(err)
		}
		return out.Regions
	}
	region := func(all []regions.Region) regions.Region {
		i := slices.IndexFunc(all, func(r regions.Region) bool { return string(r.Start) == "a000" }) // md5 of W-1 begins with aecd
		if i < 0 {
			t.Fatalf("no region begins at a000: %+v", all)
		}
		return all[i]
	}
	before := list()
	is := region(before)
	if is.Writes != records {
		t.Errorf("%d writes are shown, not %d: %+v", is.Writes, records, is)
	}
	to := before[slices.IndexFunc(before, func(r regions.Region) bool { return r.Server != is.Server })].Server
	if out := j.must("regions", "move", "-c", j.file, j.table, "key:aecdW-1|", "--to", to, "--yes"); !strings.Contains(out, "moved to "+to) {
		t.Error(out)
	}
	if now := region(list()); now.Server != to || now.Name != is.Name {
		t.Errorf("it is %+v, and was %+v", now, is)
	}
	if out, code := j.exit("regions", "move", "-c", j.file, j.table, "key:aecdW-1|", "--to", to, "--yes"); code != exitUsage || !strings.Contains(out, "is already on "+to) {
		t.Errorf("exit %d: %s", code, out)
	}
}
