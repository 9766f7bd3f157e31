package budget

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// joined returns parts of one pool, which have joined it.
func joined(size, lending int64, n int) (parts []*Part) {
	p := NewPool(size, lending)
	for range n {
		part := p.Part()
		part.Join()
		parts = append(parts, part)
	}
	return parts
}

// TestRoom checks what each of three parts can hold of 1200 bytes, 600 of which are guaranteed, beside what the parts hold and wait for.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		name    string
		held    [3]int64
		waiting [3]int64 // 0: no waiter
		want    [3]int64
	}{
		{"nobody holds anything", [3]int64{}, [3]int64{}, [3]int64{800, 800, 800}},
		{"what is guaranteed is held", [3]int64{200, 200, 200}, [3]int64{}, [3]int64{600, 600, 600}},
		{"one has what is lent", [3]int64{800, 0, 100}, [3]int64{}, [3]int64{0, 200, 100}},
		{"part of it", [3]int64{500, 0, 100}, [3]int64{}, [3]int64{300, 500, 400}},
		{"a poorer part waits", [3]int64{700, 250, 0}, [3]int64{0, 60, 0}, [3]int64{0, 50, 250}},
		{"a poorer part waits, and an equal share is not held yet", [3]int64{350, 250, 0}, [3]int64{0, 460, 0}, [3]int64{50, 400, 600}},
		{"a richer part waits", [3]int64{700, 250, 0}, [3]int64{60, 0, 0}, [3]int64{50, 50, 250}},
		{"two wait, and the third needs nothing", [3]int64{450, 440, 0}, [3]int64{150, 150, 0}, [3]int64{0, 110, 310}},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts := joined(1200, 600, 3)
			for i, part := range parts {
				part.set(c.held[i], part.least)
			}
			for i, part := range parts {
				if c.waiting[i] == 0 {
					continue
				}
				part.waiters = append(part.waiters, &waiter{want: c.waiting[i]})
				part.pool.queue = append(part.pool.queue, part)
			}
			for i, part := range parts {
				u := part.Usage()
				if want := (Usage{Used: c.held[i], Guaranteed: 200, Limit: c.held[i] + c.want[i]}); u != want {
					t.Errorf("part %d: %+v, want %+v", i, u, want)
				}
			}
		})
	}
}

// TestMinimumIsNeverLent: however much one part takes and keeps, another has its minimum at once, and more once some has come back.
func TestMinimumIsNeverLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := joined(1000, 500, 2)
		hung, other := parts[0], parts[1]
		taken := int64(0)
		for hung.TryAcquire(10) {
			taken += 10
		}
		if taken != 750 {
			t.Errorf("one part took %d bytes, want its minimum of 250 and all 500 that are lent", taken)
		}
		if n, err := other.Acquire(t.Context(), 250); n != 250 || err != nil {
			t.Fatalf("acquired %d of the minimum: %v", n, err)
		}
		var got atomic.Int64
		go func() {
			n, err := other.Acquire(t.Context(), 40)
			if err != nil {
				t.Error(err)
			}
			got.Store(n)
		}()
		synctest.Wait()
		if got.Load() != 0 {
			t.Fatal("more than the whole is held")
		}
		hung.Release(30)
		if synctest.Wait(); got.Load() != 0 {
			t.Fatal("40 bytes were granted of 30")
		}
		hung.Release(10)
		if synctest.Wait(); got.Load() != 40 {
			t.Fatalf("%d bytes were granted once 40 came back", got.Load())
		}
	})
}

// TestWaiterEndsWithItsContext: what was asked for before is granted first, until who asked gives up; those behind it are not forgotten.
func TestWaiterEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		part := joined(100, 0, 1)[0]
		if !part.TryAcquire(90) {
			t.Fatal("no room in an empty part")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var failed error
		go func() { _, failed = part.Acquire(ctx, 50) }()
		synctest.Wait()
		var second atomic.Bool
		go func() {
			_, err := part.Acquire(t.Context(), 5)
			second.Store(err == nil)
		}()
		if synctest.Wait(); second.Load() || part.TryAcquire(1) {
			t.Error("a later one has overtaken the first that waits")
		}
		cancel()
		if synctest.Wait(); !errors.Is(failed, context.Canceled) || !second.Load() {
			t.Errorf("the first ended with %v; the second was granted: %v", failed, second.Load())
		}
		if _, err := part.Acquire(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("acquired after the context had ended: %v", err)
		}
		if u := part.Usage(); u.Used != 95 {
			t.Errorf("%d bytes are held, want 95", u.Used)
		}
	})
}

// TestGrantedButGivenUp: bytes granted to a waiter that gives up at the same moment are not lost.
func TestGrantedButGivenUp(t *testing.T) {
	parts := joined(100, 50, 2)
	if !parts[0].TryAcquire(75) {
		t.Fatal("no room for the minimum and what is lent")
	}
	_, w := parts[0].ask(10)
	parts[0].Release(10)
	if w.charged != 10 || parts[0].used != 75 {
		t.Fatalf("charged %d, holds %d", w.charged, parts[0].used)
	}
	parts[0].withdraw(w)
	parts[0].Release(65)
	if u := parts[1].Usage(); parts[0].used != 0 || u.Limit != 75 {
		t.Errorf("%d bytes are held, and the other can hold %d", parts[0].used, u.Limit)
	}
}

// TestWhatExceedsAllTravelsAlone: more than a part can ever hold is charged as much as there is, once the part holds nothing else.
func TestWhatExceedsAllTravelsAlone(t *testing.T) {
	parts := joined(1000, 500, 2)
	if n, w := parts[0].ask(5000); w != nil || n != 750 {
		t.Fatalf("charged %d, want all 750 that the part can hold", n)
	}
	if n, w := parts[1].ask(5000); w != nil || n != 250 {
		t.Fatalf("charged %d, want the minimum of 250", n)
	}
	_, w := parts[1].ask(5000)
	if w == nil {
		t.Fatal("one that exceeds everything does not wait for what its part holds")
	}
	parts[0].Release(750)
	if w.charged != 0 {
		t.Fatalf("charged %d while the part holds something", w.charged)
	}
	parts[1].Release(250)
	if w.charged != 750 {
		t.Fatalf("charged %d, want 750", w.charged)
	}
}

// TestThoseThatWaitComeToHoldAlike: a part that has everything, and goes on asking, gets no more of it until another that goes on asking has
// come to hold as much. What a third part leaves is shared by both. If the store of one hangs then, the other keeps what it has.
func TestThoseThatWaitComeToHoldAlike(t *testing.T) {
	const size, chunk, rounds = 1200, 10, 400
	parts := joined(size, size/2, 3)
	fill := func(part *Part) {
		for len(part.waiters) < 3 { // partitions of a loop
			part.ask(chunk)
		}
	}
	rich, poor := parts[0], parts[1]
	fill(rich)
	fill(poor)
	if rich.used != 800 || poor.used != 200 {
		t.Fatalf("they hold %d and %d, want 800 and 200", rich.used, poor.used)
	}
	for range rounds { // each settles a chunk and asks for the next
		for _, part := range parts[:2] {
			part.Release(chunk)
			fill(part)
		}
	}
	if rich.used+poor.used != 1000 || max(rich.used, poor.used)-min(rich.used, poor.used) > 2*chunk {
		t.Errorf("both ask for more all the time, and hold %d and %d; the third is guaranteed 200 of %d", rich.used, poor.used, size)
	}
	held := rich.used
	for range rounds { // the first part's store hangs: it returns nothing, and waits
		poor.Release(chunk)
		fill(poor)
	}
	if rich.used > held+chunk || poor.used < 1000-held-chunk {
		t.Errorf("while one hangs, they hold %d and %d, before %d and %d", rich.used, poor.used, held, 1000-held)
	}
	if !parts[2].TryAcquire(200) {
		t.Error("the third part cannot hold its minimum")
	}
}

// TestWhoGivesWayLeavesOthersTheirShares: a part that gives way holds at most an equal share, although nobody else holds anything, and what
// it already holds comes back only by itself. Alone it may hold everything.
func TestWhoGivesWayLeavesOthersTheirShares(t *testing.T) {
	parts := joined(1000, 500, 2)
	modest, other := parts[0], parts[1]
	modest.GiveWay(true)
	if u := modest.Usage(); u.Limit != 500 || u.Guaranteed != 250 {
		t.Errorf("one that gives way: %+v", u)
	}
	if !modest.TryAcquire(500) || modest.TryAcquire(1) {
		t.Error("one that gives way cannot hold just an equal share")
	}
	_, w := modest.ask(100)
	if u := other.Usage(); u.Limit != 500 {
		t.Errorf("the other one can hold %d, want its equal share", u.Limit)
	}
	if modest.GiveWay(false); w.charged != 100 {
		t.Error("one that no longer gives way still waits, though there is room")
	}
	modest.GiveWay(true)
	if u := modest.Usage(); u.Used != 600 || u.Limit != 600 {
		t.Errorf("one that gives way again: %+v", u)
	}
	alone := joined(1000, 500, 1)[0]
	if alone.GiveWay(true); alone.Usage().Limit != 1000 {
		t.Errorf("one alone: %+v", alone.Usage())
	}
}

// TestJoinAndLeave: the minimum is divided among those that have joined. One that joins has its minimum although others hold all; nothing
// is lent then until as much has come back.
func TestJoinAndLeave(t *testing.T) {
	p := NewPool(1200, 600)
	first, second := p.Part(), p.Part()
	leave := first.Join()
	again := first.Join() // two Runs with one budget
	if !first.TryAcquire(1200) {
		t.Fatal("the only part cannot hold everything")
	}
	left := second.Join()
	if u := second.Usage(); u != (Usage{Guaranteed: 300, Limit: 300}) {
		t.Errorf("one that joins: %+v", u)
	}
	if !second.TryAcquire(300) || second.TryAcquire(1) {
		t.Error("one that joins cannot hold just its minimum")
	}
	first.Release(300)
	if first.TryAcquire(1) || second.TryAcquire(1) {
		t.Error("lent although no more came back than is promised")
	}
	first.Release(100)
	if !second.TryAcquire(100) || first.TryAcquire(1) {
		t.Error("what came back is not lent")
	}
	leave()
	leave() // once counts
	if u := first.Usage(); u != (Usage{Used: 800, Guaranteed: 300, Limit: 800}) {
		t.Errorf("left by one of two: %+v", u)
	}
	again()
	if u := second.Usage(); u != (Usage{Used: 400, Guaranteed: 600, Limit: 600}) {
		t.Errorf("the one that stays: %+v", u)
	}
	first.Release(800)
	second.Release(400)
	if u := second.Usage(); u.Limit != 1200 {
		t.Errorf("the one that stays can hold %d", u.Limit)
	}
	left()
	if p.free != 1200 || len(p.parts) > 0 {
		t.Errorf("in the end %d bytes are free, %d parts", p.free, len(p.parts))
	}
}

// world drives the parts of a pool one step at a time, and keeps books of its own.
type world struct {
	t     *testing.T
	pool  *Pool
	parts []*Part
	held  [][]int64 // what was charged and not released, by part
	asked [][]*waiter
	leave []func() // nil: has not joined
	moves bool     // parts join and leave
	least int64    // that was free since one last joined or left
}

func newWorld(t *testing.T, size, lending int64, parts int, moves bool) *world {
	w := &world{t: t, pool: NewPool(size, lending), moves: moves}
	for range parts {
		part := w.pool.Part()
		w.parts, w.held, w.asked, w.leave = append(w.parts, part), append(w.held, nil), append(w.asked, nil), append(w.leave, part.Join())
	}
	w.least = min(w.pool.free, 0)
	return w
}

// step makes one step, and checks what holds after every step.
func (w *world) step(op, which byte, n int64) {
	i := int(which) % len(w.parts)
	part := w.parts[i]
	switch op % 9 {
	case 0, 1, 2:
		if w.leave[i] == nil {
			return // only one that has joined acquires
		}
		room, before, used := part.room(), len(part.waiters), part.used
		charged, wait := part.ask(n)
		switch {
		case wait != nil:
			w.asked[i] = append(w.asked[i], wait)
			if before == 0 && n <= room {
				w.t.Fatalf("part %d waits for %d, and had room for %d", i, n, room)
			}
		default:
			if before > 0 || charged != n && used > 0 {
				w.t.Fatalf("part %d was charged %d for %d, while %d wait and it holds %d", i, charged, n, before, used)
			}
			w.held[i] = append(w.held[i], charged)
		}
	case 3, 4:
		if len(w.held[i]) > 0 {
			k := int(n) % len(w.held[i])
			part.Release(w.held[i][k])
			w.held[i] = slices.Delete(w.held[i], k, k+1)
		}
	case 5:
		if len(w.asked[i]) > 0 {
			k := int(n) % len(w.asked[i])
			part.withdraw(w.asked[i][k])
			w.asked[i] = slices.Delete(w.asked[i], k, k+1)
		}
	case 6:
		if w.leave[i] != nil && part.TryAcquire(n) {
			w.held[i] = append(w.held[i], n)
		}
	case 7:
		switch {
		case !w.moves:
			return
		case w.leave[i] != nil:
			w.leave[i]()
			w.leave[i] = nil
		default:
			w.leave[i] = part.Join()
		}
		w.least = min(w.pool.free, 0)
	case 8:
		part.GiveWay(!part.yields)
	}
	w.check()
}

// check compares the pool with the books.
func (w *world) check() {
	w.t.Helper()
	all, promised, queued := int64(0), int64(0), 0
	for i, part := range w.parts {
		w.asked[i] = slices.DeleteFunc(w.asked[i], func(a *waiter) bool {
			select {
			case <-a.granted:
				w.held[i] = append(w.held[i], a.charged)
				return true
			default:
				return false
			}
		})
		used := int64(0)
		for _, n := range w.held[i] {
			used += n
		}
		all += used
		promised += max(used, part.least)
		if used != part.used {
			w.t.Fatalf("part %d: holds %d by the books, and %d", i, used, part.used)
		}
		if !slices.Equal(part.waiters, w.asked[i]) {
			w.t.Fatalf("part %d: %d wait, %d by the books", i, len(part.waiters), len(w.asked[i]))
		}
		if room := part.room(); room < part.least-used {
			w.t.Fatalf("part %d: room for %d, though it holds %d of the %d that it is guaranteed", i, room, used, part.least)
		}
		if len(part.waiters) == 0 {
			continue
		}
		queued++
		if n := part.waiters[0].want; used == 0 || n <= part.room() {
			w.t.Fatalf("part %d: one waits for %d, though there is room for %d and the part holds %d", i, n, part.room(), used)
		}
		if !slices.Contains(w.pool.queue, part) {
			w.t.Fatalf("part %d: one waits, and is not in the queue", i)
		}
	}
	if queued != len(w.pool.queue) {
		w.t.Fatalf("%d parts wait, %d are in the queue", queued, len(w.pool.queue))
	}
	if w.pool.free != w.pool.size-promised {
		w.t.Fatalf("%d bytes are free of %d, of which %d are held or guaranteed", w.pool.free, w.pool.size, promised)
	}
	if w.pool.free < w.least {
		w.t.Fatalf("%d bytes are free: more was lent than there was", w.pool.free)
	}
	w.least = min(w.pool.free, 0)
	if !w.moves && all > w.pool.size {
		w.t.Fatalf("%d bytes are held of %d", all, w.pool.size)
	}
}

// end releases everything. Then nobody waits.
func (w *world) end() {
	for again := true; again; {
		again = false
		for i := range w.parts {
			if len(w.held[i]) > 0 {
				again = true
				w.step(3, byte(i), 0)
			}
		}
	}
	for i, part := range w.parts {
		if len(part.waiters) > 0 || part.used != 0 {
			w.t.Fatalf("part %d: in the end %d wait, and %d bytes are held", i, len(part.waiters), part.used)
		}
	}
}

// TestAnySteps makes random steps: the parts never hold more than the whole, each can hold its minimum, nobody waits while there is room, and
// all who wait are granted in the end.
func TestAnySteps(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := 1 + r.Int64N(2000)
		w := newWorld(t, size, r.Int64N(size+1), 1+r.IntN(5), seed%2 == 1)
		largest := 1 + r.Int64N(size+size/4+1)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w.t = t
			for range 1000 {
				w.step(byte(r.UintN(9)), byte(r.UintN(256)), r.Int64N(largest+1))
			}
			w.end()
		})
	}
}

// FuzzSteps makes the steps that its input says, three bytes each, in a pool of 1000 bytes.
func FuzzSteps(f *testing.F) {
	f.Add([]byte{0, 0, 200, 0, 1, 100, 3, 0, 0}, false)
	f.Add([]byte{0, 0, 255, 0, 0, 255, 0, 1, 255, 7, 2, 0, 0, 1, 9, 3, 0, 0, 5, 1, 0}, true)
	f.Fuzz(func(t *testing.T, steps []byte, moves bool) {
		w := newWorld(t, 1000, 500, 3, moves)
		for ; len(steps) >= 3; steps = steps[3:] {
			w.step(steps[0], steps[1], 5*int64(steps[2]))
		}
		w.end()
	})
}

// TestManyAtOnce lets goroutines acquire, hold and release at the same time, some with contexts that end: the parts never hold more than
// the whole, and nobody waits for ever.
func TestManyAtOnce(t *testing.T) {
	const size, loops, workers, rounds = 1200, 3, 8, 300
	parts := joined(size, size/2, loops)
	var all atomic.Int64
	var done sync.WaitGroup
	for i := range loops * workers {
		done.Go(func() {
			part, r := parts[i%loops], rand.New(rand.NewPCG(uint64(i), 2))
			for range rounds {
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(4) == 0 {
					go cancel()
				}
				n, err := part.Acquire(ctx, 1+r.Int64N(200))
				if err == nil {
					if now := all.Add(n); now > size {
						t.Errorf("%d bytes are held of %d", now, size)
					}
					if part.TryAcquire(1) {
						part.Release(1)
					}
					all.Add(-n)
					part.Release(n)
				}
				cancel()
			}
		})
	}
	done.Wait()
	for i, part := range parts {
		if u := part.Usage(); u.Used != 0 || u.Limit != size/loops/2+size/2 {
			t.Errorf("part %d in the end: %+v", i, u)
		}
	}
}

// BenchmarkAcquire acquires and releases in one goroutine, in those of one loop and of two, and where each waits for another.
func BenchmarkAcquire(b *testing.B) {
	b.Run("alone", func(b *testing.B) {
		part := joined(1<<20, 1<<19, 1)[0]
		b.ReportAllocs()
		for b.Loop() {
			n, _ := part.Acquire(b.Context(), 1000)
			part.Release(n)
		}
	})
	for n, name := range map[int]string{1: "one loop", 2: "two loops"} {
		b.Run(name, func(b *testing.B) {
			parts := joined(1<<20, 1<<19, n)
			var next atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				part := parts[int(next.Add(1))%n]
				for pb.Next() {
					n, _ := part.Acquire(context.Background(), 1000)
					part.Release(n)
				}
			})
		})
	}
	b.Run("waiting", func(b *testing.B) {
		part := joined(1000, 500, 1)[0]
		b.ReportAllocs()
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				n, _ := part.Acquire(context.Background(), 1000)
				part.Release(n)
			}
		})
	})
}
