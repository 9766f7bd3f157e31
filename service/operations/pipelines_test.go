package operations

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"brine/config"
	"brine/service"
)

// TestUnchangedGroupsAreAskedAboutLessOften checks how long the brokers' answer about a group is cached: a second, up to four while
// nothing changes, and a second again after a change.
func TestUnchangedGroupsAreAskedAboutLessOften(t *testing.T) {
	b := newBench(t, service.ToRead, func(c *config.Config) { c.Accounts = config.Accounts{} })
	now := time.Unix(0, 0)
	o := New(b.service, slog.New(slog.DiscardHandler))
	defer o.Close()
	o.now = func() time.Time { return now }
	half := b.cfg.Pipelines[0].Halves()[0]
	var at []int // seconds at which the brokers were asked
	for second := range 25 {
		now = time.Unix(int64(second), 0)
		switch second {
		case 13:
			b.publish(half.Pipeline.Topic, "waybill", slices.Values([][]byte{[]byte(`{"waybill": "W"}`)}))
		case 20:
			o.forgetGroups()
		}
		known := o.ask(t.Context(), half)
		if known.err != nil {
			t.Fatal(known.err)
		}
		if known.at.Equal(now) {
			at = append(at, second)
		}
	}
	// 15 sees the change of 13; 20 is the first after the groups were forgotten
	if want := []int{0, 1, 3, 7, 11, 15, 16, 18, 20, 21, 23}; !slices.Equal(at, want) {
		t.Errorf("asked at %v, want %v", at, want)
	}
}
