package main

import (
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"

	"brine/internal/sample"
)

const header = "year,month,day,dep_time,dep_delay,arr_time,carrier,flight,tailnum,origin,dest,minute,time_hour\n"

const airports = "faa,name,tz,dst,tzone\nIAH,Houston,-6,A,America/Chicago\nHNL,Honolulu,-10,N,Pacific/Honolulu\nLAX,Los Angeles,-8,A,America/Los_Angeles\n"

func TestScansOfAFlight(t *testing.T) {
	zones, err := readZones([]byte(airports))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, row, want string }{
		{"both", "2013,1,1,517.0,2.0,830.0,UA,1545,N14228,EWR,IAH,15,2013-01-01T10:00:00Z",
			"UA-1545-20130101-EWR DEPART 2013-01-01T10:17:00Z EWR N14228; UA-1545-20130101-EWR ARRIVE 2013-01-01T14:30:00Z IAH N14228"},
		{"left early", "2013,10,1,517,-3,830,UA,1,N1,EWR,IAH,20,2013-10-01T09:00:00Z",
			"UA-1-20131001-EWR DEPART 2013-10-01T09:17:00Z EWR N1; UA-1-20131001-EWR ARRIVE 2013-10-01T13:30:00Z IAH N1"},
		{"over night", "2013,7,4,2325,0,312,UA,1,N1,EWR,LAX,25,2013-07-05T03:00:00Z",
			"UA-1-20130704-EWR DEPART 2013-07-05T03:25:00Z EWR N1; UA-1-20130704-EWR ARRIVE 2013-07-05T10:12:00Z LAX N1"},
		{"2400 at the destination", "2013,7,4,1900,0,2400,UA,1,N1,EWR,HNL,0,2013-07-04T23:00:00Z",
			"UA-1-20130704-EWR DEPART 2013-07-04T23:00:00Z EWR N1; UA-1-20130704-EWR ARRIVE 2013-07-05T10:00:00Z HNL N1"},
		{"no airport row", "2013,1,2,2350,11,430,B6,1,N1,JFK,SJU,39,2013-01-03T04:00:00Z",
			"B6-1-20130102-JFK DEPART 2013-01-03T04:50:00Z JFK N1; B6-1-20130102-JFK ARRIVE 2013-01-03T08:30:00Z SJU N1"},
		{"diverted, no tail number", "2013,1,2,600,0,NA,AA,7,,LGA,IAH,0,2013-01-02T11:00:00Z", "AA-7-20130102-LGA DEPART 2013-01-02T11:00:00Z LGA AA"},
		{"cancelled", "2013,12,31,NA,NA,NA,AA,7,NA,LGA,IAH,45,2013-12-31T11:00:00Z", "AA-7-20131231-LGA CANCEL 2013-12-31T11:45:00Z LGA AA"},
		{"unknown airport", "2013,1,2,600,0,800,AA,7,N1,LGA,XXX,0,2013-01-02T11:00:00Z", "no time zone for XXX"},
		{"bad clock", "2013,1,2,600,0,8h,AA,7,N1,LGA,IAH,0,2013-01-02T11:00:00Z", `column arr_time: "8h" is no whole number`},
	} {
		for f, err := range rows([]byte(header + c.row + "\n")) {
			if err != nil {
				t.Fatal(err)
			}
			scans, err := f.scans(zones)
			if got := show(scans, err); got != c.want {
				t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
			}
		}
	}
}

func show(scans []sample.Scan, err error) string {
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, s := range scans {
		out = append(out, strings.Join([]string{s.Waybill, s.Action, time.UnixMilli(s.At).UTC().Format(time.RFC3339), s.Station, s.Courier}, " "))
	}
	return strings.Join(out, "; ")
}

func TestRowsReportBrokenFiles(t *testing.T) {
	broken := 0
	for _, err := range rows([]byte("a,b\n1\n")) {
		if err != nil {
			broken++
		}
	}
	if broken != 1 {
		t.Errorf("%d errors for a row that lacks a column, want 1", broken)
	}
}

func TestOrderKeepsItsDirt(t *testing.T) {
	products := map[int64]product{1: {ID: 1, Manufacturer: 69, Type: "WHITE BREAD", Size: "20 OZ"}, 2: {ID: 2, Manufacturer: 2, Type: "GAS"}}
	at := func(seconds int64) deprecated.Int96 {
		nanos := uint64(seconds) * 1e9
		return deprecated.Int96{uint32(nanos), uint32(nanos >> 32), 2440588 + 17167} // 2017-01-01
	}
	o := order([]line{
		{Household: 900, Basket: 31198570044, Product: 1, Quantity: 2, Value: 1.5, RetailDiscount: 0.25, Time: at(60)},
		{Household: 900, Basket: 31198570044, Product: 2, Quantity: 89638, Value: 0, Time: at(59)},
		{Household: 900, Basket: 31198570044, Product: 77, Quantity: 0, Value: 9.001, CouponDiscount: 0.1, CouponMatch: 0.05, Time: at(61)},
	}, products)
	want := sample.Order{ID: "31198570044", User: "900", Created: 1483228800000 + 59000, Brand: "69", Lines: 3, Total: 10.5, Discount: 0.4,
		Items: "WHITE BREAD 20 OZ x2 1.50; GAS x89638 0.00; product 77 x0 9.00"}
	if o != want {
		t.Errorf("got  %+v\nwant %+v", o, want)
	}
}

func TestRunSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ out, sample, want string }{
		{"", "", "nothing to do: give -out DIR or -sample FILE"},
		{dir, "", "no such file or directory; make data downloads it"},
	} {
		if err := run(dir, c.out, c.sample); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
