package account

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAGroupThatFailsIsWrittenOneByOne checks that of items that the database does not take together, each that it takes alone is written.
func TestAGroupThatFailsIsWrittenOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad = 3
		written := map[int]int{}
		c := newCommitter(func(_ context.Context, group []int) error {
			time.Sleep(time.Millisecond) // the others arrive meanwhile
			if len(group) > 1 || group[0] == bad {
				return errors.New("too large")
			}
			written[group[0]]++
			return nil
		})
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				if err := c.commit(t.Context(), i); (err != nil) != (i == bad) {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		all.Wait()
		c.close()
		for i := range 10 {
			if want := map[bool]int{true: 0, false: 1}[i == bad]; written[i] != want {
				t.Errorf("%d is written %d times", i, written[i])
			}
		}
	})
}
