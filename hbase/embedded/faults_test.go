package embedded_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// faultTest starts a server with a table of two regions, and connects to it.
func faultTest(t *testing.T) (*embedded.Server, *client, [][]byte) {
	s := start(t, embedded.Options{})
	regions := create(t, s.Addr(), "t", []string{"m"}, family("e"))
	return s, dial(t, s.Addr(), "ClientService"), regions
}

// put sends a Multi with one put in each region, of rows a and z.
func put(c *client, regions [][]byte, value string) (string, error) {
	r := &hbasepb.MultiResponse{}
	_, err := c.call("Multi", &hbasepb.MultiRequest{RegionAction: []*hbasepb.RegionAction{
		{Region: region(regions[0]), Action: []*hbasepb.Action{action(0, putOf("a", 1))}},
		{Region: region(regions[1]), Action: []*hbasepb.Action{action(0, putOf("z", 1))}},
	}}, r, block(cell("a", "e", "q", 1, 4, value), cell("z", "e", "q", 1, 4, value)))
	return outcomes(r), err
}

func values(t *testing.T, c *client, regions [][]byte) (s string) {
	t.Helper()
	for _, name := range regions {
		for _, cell := range scanCells(t, c, name) {
			s += string(cell.Value)
		}
	}
	return s
}

var busy = &embedded.Exception{Class: hbase + "RegionTooBusyException", Message: "busy", ServerOverloaded: true}

// By default a control function seizes one request; its exception is sent with its flags.
func TestControlOnce(t *testing.T) {
	s, c, regions := faultTest(t)
	s.Control("Multi", func(*embedded.Request) *embedded.Outcome { return &embedded.Outcome{Exception: busy} })
	_, err := put(c, regions, "1")
	wantException(t, err, busy.Class, false)
	if e := exception(err); !e.GetServerOverloaded() {
		t.Error("the flag was lost")
	}
	if got, err := put(c, regions, "2"); err != nil || got != "0 | 0" {
		t.Fatal(got, err)
	}
	if got := values(t, c, regions); got != "22" {
		t.Fatal(got)
	}
}

// A control function that returns nil observes and stays; with Keep it stays after seizing a request; the function returned by Control
// removes it.
func TestControlKeepAndObserve(t *testing.T) {
	s, c, regions := faultTest(t)
	var seen []string
	s.Control("", func(r *embedded.Request) *embedded.Outcome {
		seen = append(seen, r.Service+"."+r.Method)
		return nil
	})
	remove := s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		return &embedded.Outcome{Exception: busy}
	})
	for range 3 {
		_, err := put(c, regions, "1")
		wantException(t, err, busy.Class, false)
	}
	remove()
	if got, err := put(c, regions, "2"); err != nil || got != "0 | 0" {
		t.Fatal(got, err)
	}
	if want := slices.Repeat([]string{"ClientService.Multi"}, 4); !slices.Equal(seen, want) {
		t.Fatal(seen)
	}
}

// One region or one row of a Multi fails, and the others are applied.
func TestControlPartOfMulti(t *testing.T) {
	s, c, regions := faultTest(t)
	moved := &embedded.Exception{Class: hbase + "exceptions.RegionMovedException", Message: "Region moved to: hostname=h port=1 startCode=2. As of locationSeqNum=3."}
	s.Control("Multi", func(*embedded.Request) *embedded.Outcome {
		return &embedded.Outcome{Regions: map[string]*embedded.Exception{string(regions[0]): moved}}
	})
	if got, err := put(c, regions, "1"); err != nil || got != "!RegionMovedException | 0" {
		t.Fatal(got, err)
	}
	s.Control("Multi", func(*embedded.Request) *embedded.Outcome {
		return &embedded.Outcome{Rows: map[string]*embedded.Exception{"z": busy}}
	})
	if got, err := put(c, regions, "2"); err != nil || got != "0 | 0!RegionTooBusyException" {
		t.Fatal(got, err)
	}
	if got := values(t, c, regions); got != "21" {
		t.Fatal(got)
	}
}

// A dropped connection, with the request applied and not: the client cannot know, but the cells show it.
func TestControlDrop(t *testing.T) {
	for _, apply := range []bool{false, true} {
		t.Run(fmt.Sprint(apply), func(t *testing.T) {
			s, c, regions := faultTest(t)
			s.Control("Multi", func(*embedded.Request) *embedded.Outcome {
				return &embedded.Outcome{Drop: true, Apply: apply}
			})
			if _, err := put(c, regions, "1"); err == nil {
				t.Fatal("an answer")
			}
			want := map[bool]string{false: "", true: "11"}[apply]
			if got := values(t, dial(t, s.Addr(), "ClientService"), regions); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		})
	}
}

// A call that is never answered and one that is delayed do not delay the answers of others on the same connection.
func TestControlSilentAndUntil(t *testing.T) {
	s, c, regions := faultTest(t)
	held := make(chan struct{})
	s.Control("Multi", func(*embedded.Request) *embedded.Outcome { return &embedded.Outcome{Silent: true} })
	s.Control("Get", func(*embedded.Request) *embedded.Outcome { return &embedded.Outcome{Until: held} })
	c.send("Multi", &hbasepb.MultiRequest{}, nil)
	get := &hbasepb.GetRequest{Region: region(regions[0]), Get: &hbasepb.Get{Row: []byte("a")}}
	late := c.send("Get", get, nil)
	early := c.send("Mutate", &hbasepb.MutateRequest{Region: region(regions[0]), Mutation: putOf("a", 1)}, block(cell("a", "e", "q", 1, 4, "v")))
	for i, want := range []uint32{early, late} {
		r, err := c.receive()
		if err != nil || r.CallID != want {
			t.Fatalf("answer to call %d, want %d: %v", r.CallID, want, err)
		}
		if i == 0 {
			close(held)
		}
	}
}

// A custom answer that is neither a result nor an exception, which clients must survive.
func TestControlAnswer(t *testing.T) {
	s, c, regions := faultTest(t)
	s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		if n := len(r.Param.(*hbasepb.MultiRequest).RegionAction); n != 2 || !bytes.Contains(r.Cells, []byte("1")) {
			t.Errorf("%d region actions, cells %q", n, r.Cells)
		}
		return &embedded.Outcome{Answer: &hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{{}, {ResultOrException: []*hbasepb.ResultOrException{{Index: proto.Uint32(0)}}}}}}
	})
	if got, err := put(c, regions, "1"); err != nil || got != " | 0" {
		t.Fatalf("%q %v", got, err)
	}
}

// The log of applied mutations has those of each row in the order in which they were applied, whichever client sent them.
func TestApplied(t *testing.T) {
	var mu sync.Mutex
	var last int
	log := map[string]int{}
	s := start(t, embedded.Options{Applied: func(a embedded.Applied) {
		mu.Lock()
		defer mu.Unlock()
		log[a.Table+"/"+string(a.Row)] += a.Cells
		last++
	}})
	regions := create(t, s.Addr(), "t", []string{"m"}, family("e"))
	var wg sync.WaitGroup
	for range 3 {
		c := dial(t, s.Addr(), "ClientService")
		wg.Go(func() {
			for i := range 20 {
				if _, err := put(c, regions, fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if last != 120 || log["t/a"] != 60 || log["t/z"] != 60 {
		t.Fatal(last, log)
	}
}
