package rpc

import (
	"sync/atomic"
	"testing"
)

// A goroutine may start while another waits for the end of all; the race detector sees if it may not.
func TestGoroutinesStartWhileOthersWait(t *testing.T) {
	var g Goroutines
	g.Wait() // none, no wait
	for range 100 {
		var ended atomic.Bool
		waited := make(chan struct{})
		goOn := make(chan struct{})
		g.Go(func() {
			<-goOn
			g.Go(func() { ended.Store(true) })
		})
		go func() {
			defer close(waited)
			g.Wait()
			if !ended.Load() {
				t.Error("Wait returned before the last goroutine had ended")
			}
		}()
		close(goOn)
		<-waited
		started := make(chan struct{})
		go func() {
			defer close(started)
			g.Go(func() {})
		}()
		g.Wait()
		<-started
		g.Wait()
	}
}
