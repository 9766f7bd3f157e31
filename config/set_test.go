package config

import (
	"testing"
	"time"

	"brine/internal/when"
)

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		in, fault string
		want      time.Duration
		out       string
	}{
		{"92d", "", 92 * day, "92d"}, {"10s", "", 10 * time.Second, "10s"}, {"5ms", "", 5 * time.Millisecond, "5ms"}, {"2w", "", 14 * day, "14d"},
		{"1w2d3h4m5s", "", 9*day + 3*time.Hour + 4*time.Minute + 5*time.Second, "219h4m5s"}, {"1.5h", "", 90 * time.Minute, "1h30m"},
		{"2h", "", 2 * time.Hour, "2h"}, {"10m", "", 10 * time.Minute, "10m"}, {"0", "", 0, "0s"}, {"1d12h", "", 36 * time.Hour, "36h"},
		{"92", "has no unit", 0, ""}, {"", "is not a duration", 0, ""}, {"d", "is not a duration", 0, ""}, {"soon", "is not a duration", 0, ""},
		{"-1s", "is out of range", 0, ""}, {"-1d", "is out of range", 0, ""}, {"106752d", "is out of range", 0, ""}, {"106751d24h", "is out of range", 0, ""},
		{"1d2", "has no unit", 0, ""}, {"1.5d", "is not a duration", 0, ""}, {"1h1d", "is not a duration", 0, ""},
	} {
		got, err := when.Duration(c.in)
		switch {
		case c.fault != "" && (err == nil || err.Error() != c.fault):
			t.Errorf("%q: got %v, %v, want %q", c.in, got, err, c.fault)
		case c.fault == "" && (err != nil || got != c.want || DurationText(got) != c.out):
			t.Errorf("%q: got %v (%s), %v, want %v (%s)", c.in, got, DurationText(got), err, c.want, c.out)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		in, fault string
		want      Bytes
		out       string
	}{
		{"64MiB", "", 64 << 20, "64MiB"}, {"64 MiB", "", 64 << 20, "64MiB"}, {"1.5GiB", "", 3 << 29, "1536MiB"}, {"100", "", 100, "100B"},
		{"100B", "", 100, "100B"}, {"2kB", "", 2000, "2000B"}, {"1MB", "", 1e6, "1000000B"}, {"1TiB", "", 1 << 40, "1TiB"}, {"0", "", 0, "0B"},
		{"64M", "is not a size", 0, ""}, {"lots", "is not a size", 0, ""}, {"", "is not a size", 0, ""}, {"1.5", "is not a size", 0, ""},
		{"-1", "is out of range", 0, ""}, {"9000000000TiB", "is out of range", 0, ""}, {"1e30GiB", "is out of range", 0, ""},
		{"NaNMiB", "is not a size", 0, ""}, {"MiB", "is not a size", 0, ""},
	} {
		got, err := parseBytes(c.in)
		switch {
		case c.fault != "" && (err == nil || err.Error() != c.fault):
			t.Errorf("%q: got %v, %v, want %q", c.in, got, err, c.fault)
		case c.fault == "" && (err != nil || got != c.want || got.String() != c.out):
			t.Errorf("%q: got %v, %v, want %v", c.in, got, err, c.out)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"brokers", "group", "start", "rpc_timeout", "ttl"}
	for in, want := range map[string]string{
		"brokrs": "brokers", "borkers": "brokers", "broker": "brokers", "Group": "group", "rpcTimeout": "rpc_timeout", "rpc-timeout": "rpc_timeout",
		"tll": "ttl", "colour": "", "": "", "x": "", "timeout": "",
	} {
		if got := nearest(in, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
