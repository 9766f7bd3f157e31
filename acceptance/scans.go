package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"brine/internal/sample"
	"brine/query"
)

// scans are the scans of the input, each list newest first.
type scans struct {
	count     int
	waybills  []string // in order of their first scan
	byWaybill map[string][]sample.Scan
	byStation map[string][]sample.Scan
}

func readScans() (*scans, error) {
	s := &scans{byWaybill: map[string][]sample.Scan{}, byStation: map[string][]sample.Scan{}}
	f, err := os.Open(scansFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for line, err := range sample.Read(f) {
		if err != nil {
			return nil, err
		}
		var x sample.Scan
		if err := json.Unmarshal(line, &x); err != nil {
			return nil, err
		}
		if s.count++; s.byWaybill[x.Waybill] == nil {
			s.waybills = append(s.waybills, x.Waybill)
		}
		s.byWaybill[x.Waybill] = append(s.byWaybill[x.Waybill], x)
		s.byStation[x.Station] = append(s.byStation[x.Station], x)
	}
	for _, lists := range []map[string][]sample.Scan{s.byWaybill, s.byStation} {
		for _, list := range lists {
			slices.SortFunc(list, func(a, b sample.Scan) int {
				return cmp.Or(cmp.Compare(b.At, a.At), strings.Compare(a.Action, b.Action))
			})
		}
	}
	return s, nil
}

func scanned(r row, x sample.Scan) string {
	got := fmt.Sprint(r.text("waybill"), r.int("at"), r.text("action"), r.text("station"), r.text("courier"))
	if want := fmt.Sprint(x.Waybill, x.At, x.Action, x.Station, x.Courier); got != want {
		return "is " + got + ", in the input " + want
	}
	return ""
}

// checkWaybills queries timelines: whole, only the newest scan, and by time.
func (s *shop) checkWaybills(ctx context.Context) error {
	timeline, err := s.view("waybill")
	if err != nil {
		return err
	}
	latest, err := s.view("waybill-latest")
	if err != nil {
		return err
	}
	t, newest := begin("waybill"), begin("waybill-latest")
	const every = 50
	for i := 0; i < len(s.scans.waybills); i += every {
		waybill := s.scans.waybills[i]
		want, arg := s.scans.byWaybill[waybill], "waybill="+waybill
		got, err := s.all(ctx, t, timeline, arg)
		if err != nil {
			return err
		}
		same(s, t.view, []string{arg}, got, want, scanned)
		before := fmt.Sprintf("at=..%d", want[0].At)
		if got, err = s.all(ctx, t, timeline, arg, before); err != nil {
			return err
		}
		same(s, t.view, []string{arg, before}, got, kept(want, func(x sample.Scan) bool { return x.At < want[0].At }), scanned)
		stop := newest.clock()
		page, err := latest.Page(ctx, requestOf(arg))
		stop()
		if err != nil {
			return err
		}
		newest.questions, newest.rows = newest.questions+1, newest.rows+len(page.Rows)
		same(s, newest.view, []string{arg}, page.Rows, want[:1], scanned)
	}
	s.out.addAsked(t)
	s.out.addAsked(newest)
	return nil
}

// checkStations queries what passed each station on a day, and counts all of it.
func (s *shop) checkStations(ctx context.Context) error {
	r, err := s.view("station-scans")
	if err != nil {
		return err
	}
	t := begin("station-scans")
	for station, all := range s.scans.byStation {
		arg := "station=" + station
		middle := all[len(all)/2].At
		day := fmt.Sprintf("at=%d..%d", middle-halfDay, middle+halfDay)
		within := func(x sample.Scan) bool { return middle-halfDay <= x.At && x.At < middle+halfDay }
		for _, q := range []struct {
			args []string
			is   func(sample.Scan) bool
		}{
			{[]string{arg, day}, within},
			{[]string{arg, day, "action=ARRIVE,CANCEL"}, func(x sample.Scan) bool { return within(x) && x.Action != "DEPART" }},
		} {
			got, err := s.all(ctx, t, r, q.args...)
			if err != nil {
				return err
			}
			want := kept(all, q.is)
			s.newestFirst(t.view, q.args, got)
			slices.SortStableFunc(got, byTimeAndWaybill)
			slices.SortStableFunc(want, func(a, b sample.Scan) int {
				return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Waybill, b.Waybill), cmp.Compare(a.Action, b.Action))
			})
			same(s, t.view, q.args, got, want, scanned)
		}
		t.questions++
		stop := t.clock()
		got, err := r.Count(ctx, requestOf(arg))
		stop()
		if err != nil {
			return err
		}
		if got.Rows != int64(len(all)) {
			s.differs(t.view, []string{arg}, "counts %d, the input has %d", got.Rows, len(all))
		}
	}
	s.out.addAsked(t)
	return nil
}

// newestFirst checks the order that the view promises. An index orders scans of the same millisecond only by key, and the input does not
// have the keys.
func (s *shop) newestFirst(view string, args []string, got []query.Found) {
	for i := 1; i < len(got); i++ {
		if fields(&got[i-1].Row).int("at") < fields(&got[i].Row).int("at") {
			s.differs(view, args, "row %d of %d is newer than the one before it", i, len(got))
			return
		}
	}
}

// byTimeAndWaybill compares scans in the order of the input.
func byTimeAndWaybill(a, b query.Found) int {
	x, y := fields(&a.Row), fields(&b.Row)
	return cmp.Or(cmp.Compare(y.int("at"), x.int("at")), cmp.Compare(x.text("waybill"), y.text("waybill")),
		cmp.Compare(x.text("action"), y.text("action")))
}
