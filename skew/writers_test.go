package skew

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestWritersAreCountedOverTheLastMinute(t *testing.T) {
	clock := newClock()
	c := NewCounter(Shape{}, clock.now)
	shop := Writer{Pipeline: "orders", Topic: "shop.orders", Partition: 3, Producer: 4711, Name: "checkout"}
	nobody := Writer{Pipeline: "orders", Topic: "shop.orders", Partition: 3, Producer: -1}
	c.AddWriter(shop, 700)
	c.AddWriter(nobody, 200)
	c.AddWriter(shop, 50)
	c.AddWriter(Writer{Pipeline: "orders", Topic: "shop.orders", Partition: 4, Producer: 4711, Name: "a\x1b[2J" + strings.Repeat("x", 100)}, 50)
	long := Writer{Pipeline: "orders", Topic: "shop.orders", Partition: 4, Producer: 4711, Name: `a\x1B[2J` + strings.Repeat("x", mostName-5)}
	want := []HeavyWriter{{shop, 750, 0, 0.75}, {nobody, 200, 0, 0.2}, {long, 50, 0, 0.05}}
	if got := c.Writers(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	clock.pass(40 * time.Second)
	c.AddWriter(shop, 9_000)
	if got := c.Writers(); len(got) != 2 || got[0].Records != 9_750 {
		t.Errorf("half a minute later: %+v", got)
	}
	clock.pass(time.Minute)
	if got := c.Writers(); len(got) != 0 {
		t.Errorf("after a minute: %+v", got)
	}
	c.AddWriter(shop, 1)
	c.Reshape(Shape{})
	if got := c.Writers(); len(got) != 0 {
		t.Errorf("after what is masked has changed: %+v", got)
	}
}

// However many topics, producers and names there are, the memory for them is bounded, and the heaviest writers are found.
func TestWritersAreCountedInBoundedMemory(t *testing.T) {
	c := NewCounter(Shape{}, newClock().now)
	most := Writer{Pipeline: "p", Topic: "most", Producer: 1}
	for i := range 10 * mostWays {
		c.AddWriter(most, 1)
		c.AddWriter(Writer{Pipeline: "p", Topic: fmt.Sprint(i), Producer: int64(i), Name: fmt.Sprint(i)}, 1)
	}
	if n := len(c.writers.ways); n != mostWays {
		t.Errorf("%d ways are kept", n)
	}
	if n := len(c.writers.counts[0].counters); n > sketchCounters {
		t.Errorf("%d counters", n)
	}
	if got := c.Writers(); len(got) != 1 || got[0].Writer != most || got[0].Records != 10*mostWays {
		t.Errorf("%+v", got)
	}
}
