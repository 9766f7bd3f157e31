package when

import (
	"strings"
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	now := time.Date(2013, 1, 31, 8, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2013-01-31T08:00:00Z": "2013-01-31T08:00:00Z", "2013-01-31T08:00:00+08:00": "2013-01-31T00:00:00Z", "2013-01-31T08:00:00.25Z": "2013-01-31T08:00:00.25Z",
		"2013-01-31T08:00:00": "2013-01-31T08:00:00Z", "2013-01-31": "2013-01-31T00:00:00Z", "1359619200001": "2013-01-31T08:00:00.001Z", "0": "1970-01-01T00:00:00Z",
		"-1": "1969-12-31T23:59:59.999Z", "2h": "2013-01-31T06:00:00Z", "3d": "2013-01-28T08:00:00Z", "1w1d12h": "2013-01-22T20:00:00Z", "90s": "2013-01-31T07:58:30Z",
	} {
		if got, err := Time(text, now); err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "2013-1-31", "2013-01-31 08:00:00", "-2h", "2013-02-30", "2h ago", "99999999999999999999"} {
		if got, err := Time(text, now); err == nil || !strings.HasSuffix(err.Error(), "is not a time: write "+Forms) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestAgo(t *testing.T) {
	for text, want := range map[string]bool{"2h": true, "3d": true, "0": false, "1359619200001": false, "2013-01-31": false, "earliest": false, "": false} {
		if Ago(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// FuzzTime: any input results in a time or in an error in our own words.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{"", "2h", "2013-01-31", "2013-01-31T08:00:00Z", "1w2d3h", "1359619200001", "-9223372036854775808"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Time(text, time.UnixMilli(1_359_619_200_000)); err != nil && !strings.HasSuffix(err.Error(), "is not a time: write "+Forms) {
			t.Error(err)
		}
	})
}
