package rowkey_test

import (
	"strings"
	"testing"

	"brine/rowkey"
)

func TestParseQuery(t *testing.T) {
	for text, want := range map[string]string{"waybill at..": "waybill at..", " at.. , waybill": "waybill at..", "waybill": "waybill", "at..": "at.."} {
		if q, err := rowkey.ParseQuery(text); err != nil || q.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, q, err, want)
		}
	}
	for text, want := range map[string]string{"": "names no field", ", ": "names no field", "at.. n..": "ranges over at and n", "at at": "names at twice", "at at..": "names at twice", "at.. at": "names at twice"} {
		if q, err := rowkey.ParseQuery(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %v; want %s", text, q, err, want)
		}
	}
}

// TestServes checks that a query is answered by one scan, or by one per bucket.
func TestServes(t *testing.T) {
	for _, c := range []struct {
		expr, query string
		scans       int
	}{
		{scanKey, "waybill at..", 1}, {`salt(16, waybill) + waybill`, "waybill", 1}, {`salt(16, waybill) + asc(at, ms) + waybill`, "at..", 16},
		{`waybill + "|" + action`, "waybill..", 1}, {scanKey, "at..", 0}, {scanKey, "station", 0},
	} {
		q, err := rowkey.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if scans, err := parse(t, c.expr).Serves(q); scans != c.scans || (err != nil) != (c.scans == 0) {
			t.Errorf("%s of %s: %d scans, %v; want %d", c.query, c.expr, scans, err, c.scans)
		}
	}
	places := parsePlace(t, `fixed(area, 6) + "_" + geohash(lat, lon, 8)`)
	if scans, err := places.Serves(rowkey.Query{Equal: []string{"area", "geohash"}}); scans != 1 || err != nil {
		t.Error(scans, err)
	}
}
