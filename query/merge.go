package query

import (
	"bytes"
	"container/heap"
	"context"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"

	"brine/hbase"
)

// The limits of a merge, whatever the number of buckets.
const (
	mergeCalls = 64      // pages read at the same time, which limits the open scanners
	mergeRows  = 8192    // in the pages of all buckets
	mergeBytes = 8 << 20 // likewise, except that a page's last row may exceed the page's share
	firstRows  = 4       // in the first page of a bucket; the size of pages doubles

	leastAnswer = 64 << 10 // bytes: with less, servers would cut rows
)

// merge reads buckets in parallel and yields their rows in the order of what follows their leads. It reads every bucket in order, page by
// page, so the least of their next rows is the next row overall. No scanner is open between pages, so the caller's loop may take its time
// and no lease expires.
type merge struct {
	*reading
	ctx   context.Context // for the pages
	pages errgroup.Group  // a goroutine reads one page and ends
	share int             // the number of buckets, by which the limits are divided
	heads []*head         // a heap of the heads with rows
}

// head holds the next rows of one bucket.
type head struct {
	index int // of the bucket: orders rows that are equal behind the lead
	key   int // of the bucket
	lead  int
	rest  bucket
	rows  []hbase.Result
	size  int       // rows of the last requested page
	asked bool      // a page is being read, or is in the channel
	page  chan page // has a buffer of one page
}

// page is what was read of a bucket, and what is left of it.
type page struct {
	rows  []hbase.Result
	rest  bucket
	err   error
	spent hbase.ScanMetrics
}

func (r *reading) merged(ctx context.Context, buckets []bucket) iter.Seq2[raw, error] {
	return func(yield func(raw, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		m := &merge{reading: r, ctx: ctx, share: len(buckets)}
		m.pages.SetLimit(mergeCalls)
		all := make([]*head, len(buckets))
		defer m.settle(all)
		defer cancel()
		for i, b := range buckets {
			all[i] = &head{index: i, key: b.key, lead: b.lead, rest: b, size: firstRows / 2, page: make(chan page, 1)}
		}
		for _, h := range all {
			m.ask(h)
		}
		for _, h := range all {
			if err := m.fill(h); err != nil {
				yield(raw{}, err)
				return
			}
			if len(h.rows) > 0 {
				m.heads = append(m.heads, h)
			}
		}
		m.give(yield)
	}
}

// give yields the rows of all heads.
func (m *merge) give(yield func(raw, error) bool) {
	for heap.Init(m); len(m.heads) > 0; {
		h := m.heads[0]
		row, older := raw{h.rows[0], h.key}, m.older(h)
		for _, o := range older {
			row.Cells = joinCells(row.Cells, o.rows[0].Cells)
		}
		if !yield(row, nil) {
			return
		}
		if err := m.pass(h, older); err != nil {
			yield(raw{}, err)
			return
		}
	}
}

// older removes the heads whose next rows are the first head's row under older keys, the newest of them first.
func (m *merge) older(first *head) (out []*head) {
	for m.joins && len(m.heads) > 1 {
		second := 1
		if len(m.heads) > 2 && m.Less(2, 1) {
			second = 2
		}
		if h := m.heads[second]; !bytes.Equal(h.tail(), first.tail()) {
			break
		}
		out = append(out, heap.Remove(m, second).(*head))
	}
	return out
}

// pass moves past the row that was yielded.
func (m *merge) pass(first *head, older []*head) error {
	first.rows = first.rows[1:]
	if err := m.fill(first); err != nil {
		return err
	}
	if len(first.rows) == 0 {
		heap.Pop(m)
	} else {
		heap.Fix(m, 0)
	}
	for _, h := range older {
		h.rows = h.rows[1:]
		if err := m.fill(h); err != nil {
			return err
		}
		if len(h.rows) > 0 {
			heap.Push(m, h)
		}
	}
	return nil
}

// fill waits for a page if the head has no rows, and requests the next one when at most half of a page is left. An answer with a limit
// requests a page only when it needs one: a caller of ten rows has no use for the eleventh.
func (m *merge) fill(h *head) error {
	for len(h.rows) == 0 && (h.asked || len(h.rest.ranges) > 0) {
		if !h.asked {
			m.ask(h)
		}
		p := <-h.page
		h.asked, h.rows, h.rest = false, p.rows, p.rest
		m.spend(p.spent)
		if p.err != nil {
			return p.err
		}
	}
	if m.limit == 0 && len(h.rows) <= h.size/2 && !h.asked && len(h.rest.ranges) > 0 {
		m.ask(h)
	}
	return nil
}

// ask requests a head's next page. It blocks while mergeCalls other pages are being read.
func (m *merge) ask(h *head) {
	h.size = min(2*h.size, max(1, mergeRows/m.share))
	rows, rest := h.size, h.rest
	if m.limit > 0 {
		rows = min(rows, (m.left()+m.share-1)/m.share)
	}
	h.asked = true
	m.pages.Go(func() error {
		h.page <- m.read(m.ctx, rest, rows, mergeBytes/m.share)
		return nil
	})
}

// read reads rows of a bucket, at most rows, and stops once they have size bytes.
func (r *reading) read(ctx context.Context, b bucket, rows, size int) (p page) {
	if r.spent.Seen != nil {
		p.spent.Seen = map[string]bool{}
	}
	for i, x := range b.ranges {
		want, got := rows-len(p.rows), 0
		scan := r.scan(b.key, x, want, &p.spent)
		scan.MaxResultBytes = max(leastAnswer, size)
		for row, err := range r.rows(ctx, x, scan) {
			if err != nil {
				p.err = err
				return p
			}
			p.rows = append(p.rows, row)
			size -= sizeOf(row)
			if got++; size <= 0 {
				break
			}
		}
		if got == want || size <= 0 {
			left := r.behind(x, p.rows[len(p.rows)-1].Row)
			p.rest = b
			p.rest.ranges = slices.Insert(slices.Clone(b.ranges[i+1:]), 0, left)
			return p
		}
	}
	return p
}

func sizeOf(r hbase.Result) (n int) {
	for _, c := range r.Cells {
		n += len(c.Row) + len(c.Family) + len(c.Qualifier) + len(c.Value)
	}
	return n
}

// settle waits for the pages that are still being read, and counts their costs. The context is canceled.
func (m *merge) settle(all []*head) {
	_ = m.pages.Wait() // the goroutines return no error: it is in the page
	for _, h := range all {
		if h.asked {
			m.spend((<-h.page).spent)
		}
	}
}

// tail returns what orders the head's next row.
func (h *head) tail() []byte { return h.rows[0].Row[h.lead:] }

func (m *merge) Len() int      { return len(m.heads) }
func (m *merge) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }
func (m *merge) Push(h any)    { m.heads = append(m.heads, h.(*head)) }

func (m *merge) Less(i, j int) bool {
	a, b := m.heads[i], m.heads[j]
	if c := bytes.Compare(a.tail(), b.tail()); c != 0 {
		return c < 0 != m.reverse
	}
	return a.index < b.index
}

func (m *merge) Pop() any {
	last := len(m.heads) - 1
	h := m.heads[last]
	m.heads = m.heads[:last]
	return h
}
