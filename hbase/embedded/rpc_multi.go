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

	batch   []mutation        // puts and deletes, collected to be applied together
	actions []*hbasepb.Action // of batch
	cells   []wire.Cell       // of batch
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
	for _, action := range a.Action {
		w.action(action)
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
func (w *regionWork) action(a *hbasepb.Action) {
	switch {
	case w.k.size > w.k.node.cluster.opts.MaxResult, w.k.full:
		w.k.skip(a.Mutation)
		w.fail(a, &Exception{Class: classResultTooLarge, Message: fmt.Sprintf("Max size exceeded CellSize: %d BlockSize: %[1]d", w.k.size)})
	case a.Get != nil:
		if e := w.k.faults.action(a); e != nil {
			w.fail(a, e)
			return
		}
		result, err := w.k.get(w.ctx, w.r, a.Get)
		w.done(a, result, err)
	case a.ServiceCall != nil:
		w.fail(a, unsupported("coprocessor calls (%s.%s)", a.ServiceCall.GetServiceName(), a.ServiceCall.GetMethodName()))
	case a.Mutation == nil:
		w.fail(a, final(classDoNotRetry, "an action that is neither mutation nor get"))
	case a.Mutation.GetMutateType() == hbasepb.MutationProto_PUT || a.Mutation.GetMutateType() == hbasepb.MutationProto_DELETE:
		w.gather(a)
	default:
		w.flush()
		w.delta(a)
	}
}

// gather decodes a put or delete and keeps it for flush.
func (w *regionWork) gather(a *hbasepb.Action) {
	m, err := w.k.mutation(a.Mutation, w.cells)
	if err != nil {
		w.fail(a, err)
		return
	}
	w.cells = m.cells
	m.cells = m.cells[:len(m.cells):len(m.cells)]
	if e := w.k.faults.action(a); e != nil {
		w.fail(a, e)
		return
	}
	w.batch, w.actions = append(w.batch, m), append(w.actions, a)
}

// flush applies the collected mutations. A cell that is too large fails all of them, as in HBase; any other error fails only its own
// mutation.
func (w *regionWork) flush() {
	defer func() { w.batch, w.actions, w.cells = w.batch[:0], w.actions[:0], w.cells[:0] }()
	for i := range w.batch {
		if err := w.batch[i].checkSizes(w.k.node.cluster.opts.MaxCell); err != nil {
			w.failAll(err)
			return
		}
	}
	good, actions := w.batch[:0], w.actions[:0]
	for i := range w.batch {
		if err := w.batch[i].check(w.r); err != nil {
			w.fail(w.actions[i], err)
			continue
		}
		good, actions = append(good, w.batch[i]), append(actions, w.actions[i])
	}
	w.batch, w.actions = good, actions
	if len(good) == 0 {
		return
	}
	if _, _, err := w.k.apply(w.ctx, w.r, good, nil); err != nil {
		w.failAll(err)
		return
	}
	for _, a := range actions {
		w.done(a, emptyResult, nil)
	}
}

// emptyResult is the result of every put and delete. It is shared and never written to.
var emptyResult = &hbasepb.Result{}

func (w *regionWork) failAll(err error) {
	for _, a := range w.actions {
		w.fail(a, err)
	}
}

func (w *regionWork) delta(a *hbasepb.Action) {
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
		w.fail(a, err)
		return
	}
	if !wantsResults(a.Mutation) {
		cells = nil
	}
	w.done(a, w.k.result(cells), nil)
}

func (w *regionWork) done(a *hbasepb.Action, result *hbasepb.Result, err error) {
	if err != nil {
		w.fail(a, err)
		return
	}
	w.result.ResultOrException = append(w.result.ResultOrException, &hbasepb.ResultOrException{Index: a.Index, Result: result})
}

func (w *regionWork) fail(a *hbasepb.Action, err error) {
	w.result.ResultOrException = append(w.result.ResultOrException,
		&hbasepb.ResultOrException{Index: a.Index, Exception: asException(err).pair()})
}
