package serve

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWhoWatchesIsAskedForByTime checks that twenty events per second look an account up once per sureFor, and at once after a change in
// this process.
func TestWhoWatchesIsAskedForByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, is, changes := 0, true, uint64(0)
		still := sure(func() uint64 { return changes }, func() bool {
			asked++
			return is
		})
		for range 20 * 60 {
			if !still() {
				t.Fatal("it is who it was")
			}
			time.Sleep(50 * time.Millisecond)
		}
		if want := int(time.Minute / sureFor); asked != want {
			t.Errorf("asked %d times in a minute, want %d", asked, want)
		}
		still()
		changes++
		if is = false; still() {
			t.Error("a change in this process is not seen at once")
		}
		is = true
		still()
		is = false // changed by another process
		if time.Sleep(sureFor); still() {
			t.Errorf("a change elsewhere is not seen after %v", sureFor)
		}
	})
}
