package hbase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"

	"golang.org/x/sync/errgroup"
)

// GetError is the failure of one get among many, after its retries.
type GetError struct {
	Index int // index into the gets
	Err   error
}

func (e GetError) Error() string { return fmt.Sprintf("get %d: %v", e.Index, e.Err) }
func (e GetError) Unwrap() error { return e.Err }

// Reads are gets in progress: see Client.Gets.
type Reads struct {
	done    chan struct{}
	results []Result
	failed  []GetError
}

// Done returns a channel that is closed when every get has its result.
func (r *Reads) Done() <-chan struct{} { return r.done }

// Wait returns the rows in the order of the gets, and the gets that failed, whose rows are empty. If ctx ends before the reads, Wait
// returns the cause, and the reads continue.
func (r *Reads) Wait(ctx context.Context) (rows []Result, failed []GetError, err error) {
	select {
	case <-r.done:
		return r.results, r.failed, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// Gets starts reading many rows, with one Multi per server, and returns at once. The caller must not change the gets until the reads are
// done. The reads also end when ctx is done.
func (c *Client) Gets(ctx context.Context, table string, gets []Get) *Reads {
	r := &Reads{done: make(chan struct{})}
	read := func() {
		defer close(r.done)
		r.results, r.failed = c.getEach(ctx, locate.TableKey(table), gets)
	}
	if c.ctx.Err() != nil {
		read() // it fails at once
		return r
	}
	c.goroutines.Go(read)
	return r
}

// GetAll reads many rows with one Multi per server and returns the results in the order of the gets. If gets fail, it returns the error of
// one of them; use Gets to see the results of the others.
func (c *Client) GetAll(ctx context.Context, table string, gets []Get) ([]Result, error) {
	results, failed := c.getEach(ctx, locate.TableKey(table), gets)
	if len(failed) > 0 {
		return nil, failed[0].Err
	}
	return results, nil
}

// multiGets reads many rows in rounds until every get has its row or has failed.
type multiGets struct {
	c       *Client
	table   string
	gets    []Get
	most    int // limit per call
	results []Result
	failed  []GetError
}

func (c *Client) getEach(ctx context.Context, table string, gets []Get) ([]Result, []GetError) {
	b := &multiGets{c: c, table: table, gets: gets, most: c.opts.MaxRequestRows, results: make([]Result, len(gets))}
	t := c.newTries("get all", table)
	var todo []int // indexes into gets, in every round
	for i := range gets {
		if !gets[i].plain() {
			if _, err := gets[i].append(nil); err != nil {
				b.give(t, i, nil, err)
				continue
			}
		}
		todo = append(todo, i)
	}
	err := t.run(ctx, func(ctx context.Context) (_ *Region, err error) {
		var failed *Region
		todo, failed, err = b.round(ctx, t, todo)
		if errors.Is(err, wire.ErrTooLong) {
			b.most = max(1, min(b.most, len(todo))/2)
		}
		return failed, err
	})
	if err != nil {
		for _, i := range todo {
			b.failed = append(b.failed, GetError{i, err})
		}
	}
	slices.SortFunc(b.failed, func(x, y GetError) int { return cmp.Compare(x.Index, y.Index) })
	return b.results, b.failed
}

// give fails a get that cannot succeed.
func (b *multiGets) give(t *tries, i int, r *Region, err error) {
	b.failed = append(b.failed, GetError{i, t.end(r, err)})
}

// round tries every get in todo once. It returns the gets left to try, with the error and the region of one of them.
func (b *multiGets) round(ctx context.Context, t *tries, todo []int) ([]int, *Region, error) {
	byServer := make(map[string]map[*Region][]int)
	var (
		g       errgroup.Group
		mu      sync.Mutex
		left    []int
		failed  *Region
		failure error
	)
	for _, i := range todo {
		r := b.c.locator.Cached(b.table, b.gets[i].Row)
		if r == nil && failure == nil {
			r, failure = b.c.locator.Find(ctx, b.table, b.gets[i].Row)
			if failure != nil && remote.Diagnose(failure).Final() {
				return todo, nil, failure
			}
		}
		if r == nil {
			left = append(left, i) // the others are read in the meantime
			continue
		}
		if byServer[r.Server] == nil {
			byServer[r.Server] = make(map[*Region][]int)
		}
		byServer[r.Server][r] = append(byServer[r.Server][r], i)
	}
	for server, regions := range byServer {
		g.Go(func() error {
			for _, m := range chunkGets(regions, b.most) {
				m.run(ctx, b, server)
				mu.Lock()
				left = append(left, m.left...)
				for _, f := range m.final {
					b.give(t, f.index, f.region, f.err)
				}
				if m.err != nil && (failure == nil || remote.Diagnose(m.err).Final()) {
					failed, failure = m.failed, m.err
				}
				mu.Unlock()
			}
			return nil
		})
	}
	err := g.Wait()
	return left, failed, errors.Join(err, failure)
}

// multiGet is one Multi request of gets.
type multiGet struct {
	regions []*Region
	indexes [][]int // indexes into gets, by region

	left   []int   // to try again
	failed *Region // region and error of one of them
	err    error
	final  []failedGet
}

// failedGet is a get that failed for good.
type failedGet struct {
	index  int
	region *Region
	err    error
}

// chunkGets cuts the gets of one server into Multis of at most the given number of rows.
func chunkGets(regions map[*Region][]int, rows int) []*multiGet {
	var out []*multiGet
	room := 0
	for r, indexes := range regions {
		for len(indexes) > 0 {
			if room == 0 {
				out, room = append(out, new(multiGet)), rows
			}
			m, n := out[len(out)-1], min(room, len(indexes))
			m.regions = append(m.regions, r)
			m.indexes = append(m.indexes, indexes[:n])
			indexes, room = indexes[n:], room-n
		}
	}
	return out
}

func (m *multiGet) run(ctx context.Context, b *multiGets, server string) {
	param := m.encode(b.gets)
	sent := time.Now()
	response, err := b.c.servers.RoundTrip(ctx, rpc.ClientService.At(server), "Multi", func(dst []byte, c wire.Call) ([]byte, error) {
		return wire.AppendEncodedRequest(dst, c, param, nil)
	})
	took := time.Since(sent)
	answers, results := response.Param, rpc.NewResults(response.Cells)
	for k := range m.regions {
		var answer wire.RegionResult
		if err == nil {
			if answer, answers, _, err = wire.NextRegionResult(answers); err != nil { // so nothing behind it is known either
				err = remote.Invalid(server, fmt.Errorf("to Multi: %w", err))
			}
		}
		if err != nil {
			m.fail(k, m.indexes[k], err, b.c)
			continue
		}
		if answer.Exception.Class == "" {
			b.c.opts.Hooks.Read(ReadInfo{m.regions[k], took})
		}
		m.take(k, &answer, &results, b, server)
	}
}

// getOverhead is the length of an encoded get without columns, besides its row.
const getOverhead = 16

// encode returns the request.
func (m *multiGet) encode(gets []Get) (param []byte) {
	var encoded []byte
	var ends []int
	for k, r := range m.regions {
		indexes := m.indexes[k]
		encoded = slices.Grow(encoded[:0], len(indexes)*(len(gets[indexes[0]].Row)+getOverhead))
		ends = slices.Grow(ends[:0], len(indexes))
		for _, i := range indexes {
			encoded, _ = gets[i].append(encoded) // it was encoded before without an error
			ends = append(ends, len(encoded))
		}
		param = wire.AppendRegionGets(param, r.Name, encoded, ends)
	}
	return param
}

// take stores the results of one region.
func (m *multiGet) take(k int, answer *wire.RegionResult, results *rpc.Results, b *multiGets, server string) {
	indexes := m.indexes[k]
	if e := answer.Exception; e.Class != "" {
		m.fail(k, indexes, remote.DecodedException(server, e), b.c)
		return
	}
	answered := make([]bool, len(indexes))
	for {
		o, more, err := answer.Next()
		if err != nil {
			m.fail(k, unanswered(indexes, answered), remote.Invalid(server, err), b.c)
			*results = rpc.Results{} // nobody knows whose cells are next
			return
		}
		if !more {
			break
		}
		n := int(o.Index)
		if n >= len(indexes) || answered[n] || !o.HasResult && o.Exception.Class == "" {
			continue
		}
		answered[n] = true
		if e := o.Exception; e.Class != "" {
			m.fail(k, indexes[n:n+1], remote.DecodedException(server, e), b.c)
			continue
		}
		row, err := results.Next(o.Result)
		if err != nil {
			m.fail(k, append(unanswered(indexes, answered), indexes[n]), remote.Invalid(server, err), b.c)
			return
		}
		row.Row = b.gets[indexes[n]].Row
		b.results[indexes[n]] = row
	}
	if left := unanswered(indexes, answered); len(left) > 0 {
		m.fail(k, left, remote.Invalid(server, remote.ErrMissing), b.c)
	}
}

// unanswered returns the indexes that are not answered.
func unanswered(indexes []int, answered []bool) (left []int) {
	for n, ok := range answered {
		if !ok {
			left = append(left, indexes[n])
		}
	}
	return left
}

// fail records that gets of a region failed. They fail for good if the server's answer is final.
func (m *multiGet) fail(k int, indexes []int, err error, c *Client) {
	d := remote.Diagnose(err)
	if _, answered := errors.AsType[*remote.Exception](err); answered && d.Final() {
		for _, i := range indexes {
			m.final = append(m.final, failedGet{i, m.regions[k], err})
		}
		return
	}
	m.left = append(m.left, indexes...)
	if m.err == nil || d.Final() {
		m.failed, m.err = m.regions[k], err
	}
	c.locator.Correct(m.regions[k], d)
}
