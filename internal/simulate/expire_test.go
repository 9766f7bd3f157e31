package simulate

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// TestARebalanceThatDoesNotEndIsNoticed: one that goes on for longer than its members may take, in one epoch; one after another, and a calm group, are none.
func TestARebalanceThatDoesNotEndIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u unrest
		const preparing, long = "PreparingRebalance", rebalanceTime + 2*requestTime + time.Second
		for _, c := range []struct {
			after time.Duration
			state string
			epoch int32
			want  bool
		}{
			{0, stable, 1, false}, {long, stable, 1, false},
			{1, preparing, 1, false}, {long, "CompletingRebalance", 2, false}, {long / 2, preparing, 2, false}, {long / 2, preparing, 2, true}, {1, preparing, 3, false},
			{1, stable, 3, false}, {1, preparing, 3, false}, {long, preparing, 3, true},
		} {
			time.Sleep(c.after)
			if got := u.lasts(&kfake.GroupInfo{State: c.state, Epoch: c.epoch}); got != c.want {
				t.Errorf("%s in epoch %d: %v", c.state, c.epoch, got)
			}
		}
	})
}
