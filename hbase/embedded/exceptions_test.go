package embedded_test

import (
	"strings"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// Every exception of the catalogue arrives unchanged: class, flags, and the message where Java clients look for it.
func TestExceptions(t *testing.T) {
	s, c, regions := faultTest(t)
	all := embedded.Exceptions()
	for name, want := range all {
		if !strings.HasSuffix(want.Class, "."+name) || want.Message == "" {
			t.Errorf("%s: %+v", name, want)
		}
		s.Control("Get", func(*embedded.Request) *embedded.Outcome { return &embedded.Outcome{Exception: want} })
		_, err := c.call("Get", &hbasepb.GetRequest{Region: region(regions[0]), Get: &hbasepb.Get{Row: []byte("a")}}, &hbasepb.GetResponse{}, nil)
		wantException(t, err, want.Class, want.DoNotRetry)
		e := exception(err)
		text := want.Class + ": " + want.Message + "\n"
		if want.Bare {
			text = want.Message
		}
		if !strings.HasPrefix(e.GetStackTrace(), text) || e.GetServerOverloaded() != want.ServerOverloaded || e.GetHostname() != want.Host || e.GetPort() != want.Port {
			t.Errorf("%s: %v", name, e)
		}
	}
	if len(all) < 40 {
		t.Error(len(all), "exceptions")
	}
}

func TestMessagesThatClientsRead(t *testing.T) {
	const moved = "Region moved to: hostname=h port=1 startCode=2. As of locationSeqNum=3."
	if e := embedded.RegionMoved("h", 1, 2, 3); e.Message != moved || e.Host != "h" || e.Port != 1 {
		t.Error(e)
	}
	for wait, want := range map[time.Duration]string{
		0:                       "0ms",
		1500 * time.Millisecond: "1sec, 500ms",
		time.Hour + 2*time.Minute + 7*time.Millisecond: "1hr, 2mins, 7ms",
		2*time.Hour + time.Minute:                      "2hrs, 1min, 0ms",
	} {
		if e := embedded.Throttled(wait); e.Message != "number of write requests exceeded - wait "+want {
			t.Errorf("%v: %s", wait, e.Message)
		}
	}
}
