package rpc

import "sync"

// Goroutines counts a client's goroutines. A sync.WaitGroup would not do: a read may start the only one just as Close begins to wait, which
// a WaitGroup forbids.
type Goroutines struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when count is 0 again; nil if nobody waits
}

// Go starts a goroutine.
func (g *Goroutines) Go(f func()) {
	g.mu.Lock()
	g.count++
	g.mu.Unlock()
	go func() {
		defer g.end()
		f()
	}()
}

func (g *Goroutines) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.count--; g.count == 0 && g.none != nil {
		close(g.none)
		g.none = nil
	}
}

// Wait returns when no goroutine is left. It waits for those, too, that start while it waits.
func (g *Goroutines) Wait() {
	g.mu.Lock()
	if g.count == 0 {
		g.mu.Unlock()
		return
	}
	if g.none == nil {
		g.none = make(chan struct{})
	}
	none := g.none
	g.mu.Unlock()
	<-none
}
