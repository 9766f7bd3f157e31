package embedded

import (
	"context"
	"fmt"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// multiMethods handle actions on many regions in one call: Multi, with gets, puts, deletes, increments, appends, and atomic or conditional
// actions on one row. What Get and Mutate do not do, its actions do not do either.
//
// What they do not do:
//   - coprocessor calls: an action's service call fails that action; ExecService and ExecRegionServerService are not served;
//   - MultiActionResultTooLarge is answered when results exceed Options.MaxResult, without counting the blocks read; the atomic actions of
//     a region are not cut;
//   - answers have no load statistics of regions.
var multiMethods = map[string]method{
	"ClientService.Multi": on(multi),
}

// multi handles many actions on many regions. Each region has its own result, and so has each of its actions, unless the actions are atomic
// or the region as a whole failed. Consecutive puts and deletes of a region are applied together, in order; each of them is atomic by
// itself. Once the results are too large, multi refuses the remaining actions, which clients retry at once.
func multi(ctx context.Context, k *call, q *hbasepb.MultiRequest) (*hbasepb.MultiResponse, error) {
	response := &hbasepb.MultiResponse{}
	if q.Condition != nil && len(q.RegionAction) > 0 && q.RegionAction[0].Condition == nil {
		q.RegionAction[0].Condition = q.Condition // where clients before 2.4 put the condition
	}
	for _, a := range q.RegionAction {
		w := regionWork{k: k, ctx: ctx, group: q.GetNonceGroup(), result: &hbasepb.RegionActionResult{}}
		if err := w.do(a); err != nil {
			w.result = &hbasepb.RegionActionResult{Exception: asException(err).pair()}
		}
		response.RegionActionResult = append(response.RegionActionResult, w.result)
		if w.result.Processed != nil {
			response.Processed = w.result.Processed
		}
	}
	return response, nil
}

// regionWork is one region's part of a Multi.
type regionWork struct {
	k      *call
	ctx    context.Context
	r      *region
	group  uint64
	result *hbasepb.RegionActionResult

	all    []*hbasepb.Action // the result of each has the same index in the region's results: there are clients that need their order
	batch  []mutation        // puts and deletes, collected to be applied together
	places []int             // of batch, in all
	cells  []wire.Cell       // of batch
}

// do handles a region's actions; an error applies to all of them. In any case it consumes the cells of all actions from the cell block.
func (w *regionWork) do(a *hbasepb.RegionAction) error {
	r, err := w.k.node.region(a.Region)
	if err == nil {
		if e := w.k.faults.region(r); e != nil {
			err = e
		}
	}
	if err != nil {
		for _, action := range a.Action {
			w.k.skip(action.GetMutation())
		}
		return err
	}
	w.r = r
	if a.GetAtomic() || a.Condition != nil {
		return w.atomic(a)
	}
	w.all, w.result.ResultOrException = a.Action, make([]*hbasepb.ResultOrException, len(a.Action))
	for i := range w.all {
		w.action(i)
	}
	w.flush()
	return nil
}

// atomic applies all mutations of the region, which must be of one row, as one.
func (w *regionWork) atomic(a *hbasepb.RegionAction) error {
	var ms []mutation
	var wrong error
	for _, action := range a.Action {
		if action.Mutation == nil {
			wrong = final(classDoNotRetry, "Atomic put and/or delete only, not a Get=%v", action.Get)
			continue
		}
		m, err := w.k.mutation(action.Mutation, nil)
		if err == nil {
			err = m.checkSizes(w.k.node.cluster.opts.MaxCell)
		}
		if e := w.k.faults.action(action); err == nil && e != nil {
			err = e
		}
		if wrong == nil && err != nil {
			wrong = err
		}
		ms = append(ms, m)
	}
	if wrong != nil {
		return wrong
	}
	applied, cells, err := w.k.mutateRow(w.ctx, w.r, ms, a.Condition, w.group)
	if err != nil {
		return err
	}
	w.result.Processed = &applied
	for i := range a.Action {
		result := &hbasepb.Result{}
		if i == 0 && len(cells) > 0 {
			result = resultMessage(cells)
		}
		w.result.ResultOrException = append(w.result.ResultOrException,
			&hbasepb.ResultOrException{Index: proto.Uint32(uint32(i)), Result: result})
	}
	return nil
}

// action handles one action; it only collects puts and deletes.
func (w *regionWork) action(i int) {
	a := w.all[i]
	switch {
	case w.k.size > w.k.node.cluster.opts.MaxResult, w.k.full:
		w.k.skip(a.Mutation)
		w.fail(i, &Exception{Class: classResultTooLarge, Message: fmt.Sprintf("Max size exceeded CellSize: %d BlockSize: %[1]d", w.k.size)})
	case a.Get != nil:
		if e := w.k.faults.action(a); e != nil {
			w.fail(i, e)
			return
		}
		result, err := w.k.get(w.ctx, w.r, a.Get)
		w.done(i, result, err)
	case a.ServiceCall != nil:
		w.fail(i, unsupported("coprocessor calls (%s.%s)", a.ServiceCall.GetServiceName(), a.ServiceCall.GetMethodName()))
	case a.Mutation == nil:
		w.fail(i, final(classDoNotRetry, "an action that is neither mutation nor get"))
	case a.Mutation.GetMutateType() == hbasepb.MutationProto_PUT || a.Mutation.GetMutateType() == hbasepb.MutationProto_DELETE:
		w.gather(i)
	default:
		w.flush()
		w.delta(i)
	}
}

// gather decodes a put or delete and keeps it for flush.
func (w *regionWork) gather(i int) {
	m, err := w.k.mutation(w.all[i].Mutation, w.cells)
	if err != nil {
		w.fail(i, err)
		return
	}
	w.cells = m.cells
	m.cells = m.cells[:len(m.cells):len(m.cells)]
	if e := w.k.faults.action(w.all[i]); e != nil {
		w.fail(i, e)
		return
	}
	w.batch, w.places = append(w.batch, m), append(w.places, i)
}

// flush applies the collected mutations. A cell that is too large fails all of them, as in HBase; any other error fails only its own
// mutation.
func (w *regionWork) flush() {
	defer func() { w.batch, w.places, w.cells = w.batch[:0], w.places[:0], w.cells[:0] }()
	for i := range w.batch {
		if err := w.batch[i].checkSizes(w.k.node.cluster.opts.MaxCell); err != nil {
			w.failAll(err)
			return
		}
	}
	good, places := w.batch[:0], w.places[:0]
	for i := range w.batch {
		if err := w.batch[i].check(w.r); err != nil {
			w.fail(w.places[i], err)
			continue
		}
		good, places = append(good, w.batch[i]), append(places, w.places[i])
	}
	w.batch, w.places = good, places
	if len(good) == 0 {
		return
	}
	if _, _, err := w.k.apply(w.ctx, w.r, good, nil); err != nil {
		w.failAll(err)
		return
	}
	for _, i := range places {
		w.done(i, emptyResult, nil)
	}
}

// emptyResult is the result of every put and delete. It is shared and never written to.
var emptyResult = &hbasepb.Result{}

func (w *regionWork) failAll(err error) {
	for _, i := range w.places {
		w.fail(i, err)
	}
}

func (w *regionWork) delta(i int) {
	a := w.all[i]
	m, err := w.k.mutation(a.Mutation, nil)
	if err == nil {
		err = m.checkSizes(w.k.node.cluster.opts.MaxCell)
	}
	if e := w.k.faults.action(a); err == nil && e != nil {
		err = e
	}
	var cells []store.Cell
	if err == nil {
		_, cells, err = w.k.mutateRow(w.ctx, w.r, []mutation{m}, nil, w.group)
	}
	if err != nil {
		w.fail(i, err)
		return
	}
	if !wantsResults(a.Mutation) {
		cells = nil
	}
	w.done(i, w.k.result(cells), nil)
}

func (w *regionWork) done(i int, result *hbasepb.Result, err error) {
	if err != nil {
		w.fail(i, err)
		return
	}
	w.result.ResultOrException[i] = &hbasepb.ResultOrException{Index: w.all[i].Index, Result: result}
}

func (w *regionWork) fail(i int, err error) {
	w.result.ResultOrException[i] = &hbasepb.ResultOrException{Index: w.all[i].Index, Exception: asException(err).pair()}
}
