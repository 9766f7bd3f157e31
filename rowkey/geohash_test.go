package rowkey_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"brine/rowkey"
)

var placeFields = []rowkey.Field{
	{Name: "lat", Type: rowkey.Float}, {Name: "lon", Type: rowkey.Float}, {Name: "area", Type: rowkey.Text}, {Name: "id", Type: rowkey.Int}, {Name: "at", Type: rowkey.Time},
}

func parsePlace(t testing.TB, expr string) *rowkey.Key {
	t.Helper()
	k, err := rowkey.Parse(expr, placeFields)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return k
}

// TestGeohash tests places that are published with their geohashes, and the edges of the world.
func TestGeohash(t *testing.T) {
	for _, c := range []struct {
		lat, lon float64
		want     string
	}{
		{57.64911, 10.40744, "u4pruydqqvj"}, {42.605, -5.603, "ezs42"}, {37.8324, 112.5584, "ww8p1r4t8"}, {-25.382708, -49.265506, "6gkzwgjzn820"},
		{0, 0, "s00000000000"}, {math.Copysign(0, -1), math.Nextafter(0, -1), "ebpbpbpbpbpb"}, {90, 180, "zzzzzzzzzzzz"}, {-90, -180, "000000000000"},
	} {
		k := parsePlace(t, fmt.Sprintf("geohash(lat, lon, %d)", len(c.want)))
		if row := appendRow(t, k, real(c.lat), real(c.lon)); string(row) != c.want {
			t.Errorf("%g, %g: %s, want %s", c.lat, c.lon, row, c.want)
		}
	}
	values, err := parsePlace(t, "geohash(lat, lon, 5)").Decode([]byte("ezs42"))
	if err != nil || values[0].Float() != 42.60498046875 || values[1].Float() != -5.60302734375 {
		t.Errorf("ezs42 is %v, %v", values, err)
	}
}

// TestGeohashRefuses tests values that are not places, invalid digits, and bounds that no scan supports.
func TestGeohashRefuses(t *testing.T) {
	k := parsePlace(t, `fixed(area, 6) + "_" + geohash(lat, lon, 8) + "_" + fixed(id, 5)`)
	for _, c := range []struct {
		lat, lon float64
		want     string
	}{
		{90.1, 0, "lat: is 90.1, which is not between -90 and 90 degrees"}, {0, -180.5, "lon: is -180.5, which is not between -180 and 180 degrees"}, {math.NaN(), 0, "lat: is NaN"},
	} {
		if _, err := k.Append(nil, []rowkey.Value{text("440305"), real(c.lat), real(c.lon), number(1)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%g, %g: %v, want %s", c.lat, c.lon, err, c.want)
		}
	}
	if _, err := k.Decode([]byte("440305_ws10a000_00001")); err == nil || !strings.Contains(err.Error(), `"a" is not a geohash digit`) {
		t.Error(err)
	}
	for _, c := range []struct {
		bounds map[string]rowkey.Bound
		want   string
	}{
		{map[string]rowkey.Bound{"geohash": equal(text("ws10"))}, "has fixed(area, 6) before geohash"},
		{map[string]rowkey.Bound{"area": equal(text("440305")), "geohash": equal(text("wa"))}, `"a" is not a geohash digit`},
		{map[string]rowkey.Bound{"area": equal(text("440305")), "geohash": equal(text("ws100qt0e"))}, "1 to 8 of them"},
		{map[string]rowkey.Bound{"area": equal(text("440305")), "geohash": {From: text("w")}}, "1 to 8 of them"},
		{map[string]rowkey.Bound{"area": equal(text("440305")), "geohash": equal(text("w")), "lat": equal(real(1))}, "both lat and its geohash"},
		{map[string]rowkey.Bound{"area": equal(text("440305")), "lat": {From: real(1)}}, "not in the order of lat, so no scan ranges over it; bind geohash"},
		{map[string]rowkey.Bound{"area": equal(text("440305")), "geohash": equal(text("ws10")), "id": equal(number(1))}, "before id, so a range needs geohash"},
	} {
		_, err := k.Ranges(c.bounds)
		if _, ok := errors.AsType[*rowkey.UsageError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.bounds, err, c.want)
		}
	}
}

// TestGeohashProperties checks that decoded values are in the same cell, that hashes of the place hold for them, and that the rows of a
// cell are those whose geohashes begin with it.
func TestGeohashProperties(t *testing.T) {
	keys := []*rowkey.Key{
		parsePlace(t, `geohash(lat, lon, 7) + asc(id)`),
		parsePlace(t, `md5(lat, lon, 2) + geohash(lat, lon, 3) + geohash(lat, lon, 6) + asc(id)`),
		parsePlace(t, `geohash(lat, lon, 12) + asc(lat) + asc(id)`),
		parsePlace(t, `geohash(lat, lon, 12) + asc(lon, 32) + asc(id)`),
	}
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(keys).Draw(t, "key")
		values := []rowkey.Value{real(rapid.Float64Range(-90, 90).Draw(t, "lat")), real(rapid.Float64Range(-180, 180).Draw(t, "lon")), number(rapid.Int64().Draw(t, "id"))}
		row, err := k.Append(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		back, err := k.Decode(row)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := k.Append(nil, back); err != nil || string(again) != string(row) {
			t.Fatalf("%s of %v: %q is read as %v, which is %q, %v", k, values, row, back, again, err)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		k := keys[0]
		draw := func() []byte {
			row, err := k.Append(nil, []rowkey.Value{real(rapid.Float64Range(-90, 90).Draw(t, "lat")), real(rapid.Float64Range(-180, 180).Draw(t, "lon")), number(1)})
			if err != nil {
				t.Fatal(err)
			}
			return row
		}
		row, other := draw(), draw()
		cell := row[:rapid.IntRange(1, 7).Draw(t, "digits")]
		ranges, err := k.Ranges(map[string]rowkey.Bound{"geohash": {Equal: text(string(cell))}})
		if err != nil || len(ranges) != 1 {
			t.Fatal(ranges, err)
		}
		for _, r := range [][]byte{row, other} {
			if got, want := ranges[0].Contains(r), strings.HasPrefix(string(r), string(cell)); got != want {
				t.Fatalf("%s is in the cell %s: %v, want %v", rowkey.Binary(r), cell, got, want)
			}
		}
	})
	if got := parsePlace(t, `fixed(area, 6) + "_" + geohash(lat, lon, 8)`).Fields(); !slices.Equal(got, []string{"area", "lat", "lon"}) {
		t.Error(got)
	}
}

// TestGeohashLead checks that no hash is proposed in front of a geohash, because it would scatter the cells.
func TestGeohashLead(t *testing.T) {
	found := parsePlace(t, "geohash(lat, lon, 8) + asc(id)").Lint(rowkey.LintOptions{})
	if len(found) != 1 || found[0].Rule != "uneven-lead" || found[0].Fix != "find split points from a sample" {
		t.Errorf("%+v", found)
	}
}
