package pipeline

import (
	"slices"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"
)

// outcome is the result of one part: each mutation is applied, goes back, or has finally failed.
type outcome struct {
	part *part
	err  error   // of the part as a whole
	errs []error // by mutation; nil if no mutation has its own error

	applied []entry // all entries of the part unless something failed
	back    []entry // mutations to send again, in order
	failed  []MutationError
	refused []entry // entries with an error in failed
	search  bool    // search back for the mutation at fault
	cure    remote.Diagnosis
	cause   error // error that cure is for
	pause   time.Duration
	moved   *locate.Region
	info    AppliedInfo // for the Applied hook
}

// read decodes the answer into outcomes. Parts and mutations that it does not mention count as unanswered.
func (m *multi) read(server string, response []byte, err error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for _, p := range m.parts {
		m.outcomes = append(m.outcomes, outcome{part: p})
		o := &m.outcomes[len(m.outcomes)-1]
		if err != nil {
			o.err = err
			continue
		}
		r, rest, ok, bad := wire.NextRegionResult(response)
		switch response = rest; {
		case bad != nil:
			o.err = remote.Invalid(server, bad)
		case !ok:
			o.err = remote.Invalid(server, remote.ErrMissing)
		default:
			o.read(server, r, s)
		}
	}
}

// read decodes the results of one region.
func (o *outcome) read(server string, r wire.RegionResult, s *scratch) {
	if e := r.Exception; e.Class != "" {
		o.err = remote.DecodedException(server, e)
		return
	}
	n := len(o.part.entries)
	s.seen = slices.Grow(s.seen[:0], n)[:n]
	clear(s.seen)
	answered := 0
	for {
		result, ok, err := r.Next()
		if err != nil {
			o.err = remote.Invalid(server, err)
			return
		}
		if !ok {
			break
		}
		i := int(result.Index)
		if i >= n || s.seen[i] || !result.HasResult && result.Exception.Class == "" {
			continue
		}
		s.seen[i] = true
		answered++
		if e := result.Exception; e.Class != "" {
			o.failOne(i, remote.DecodedException(server, e))
		}
	}
	if answered == n {
		return
	}
	missing := remote.Invalid(server, remote.ErrMissing)
	for i, seen := range s.seen {
		if !seen {
			o.failOne(i, missing)
		}
	}
}

func (o *outcome) failOne(i int, err error) {
	if o.errs == nil {
		o.errs = make([]error, len(o.part.entries))
	}
	o.errs[i] = err
}

func (o *outcome) errorOf(i int) error {
	if o.err != nil || o.errs == nil {
		return o.err
	}
	return o.errs[i]
}

// judge decides for each mutation, and for the lane, by the table of remedies.
func (w *Writer) judge(o *outcome, m *multi) {
	p := o.part
	if o.err == nil && o.errs == nil {
		o.applied = p.entries
		return
	}
	single := len(m.parts) == 1
	alone := single && len(p.entries) == 1
	together := !alone && (o.err != nil || o.count(remote.Isolate) > 1) // the refusal may be another mutation's fault
	again := make(map[string]bool)                                      // rows with a mutation that goes back
	for i, e := range p.entries {
		err := o.errorOf(i)
		if err == nil {
			// Later mutations of a row go back together with an earlier one, so that they are applied after it.
			if again[string(e.row())] {
				o.back = append(o.back, e)
			} else {
				o.applied = append(o.applied, e)
			}
			continue
		}
		d := remote.Diagnose(err)
		search := d.Remedy == remote.Isolate && together || d.Cut && single && !alone && p.suspected()
		split := d.Remedy == remote.Split && !alone
		pause := e.flight.mutator.opts.Pauses.For(d, p.failed)
		switch {
		case search || split:
			e.trials++
			pause = 0
		case !d.Uncounted:
			e.attempts++
		}
		if d.Final() && !search && !split || !search && !split && e.spent(pause) {
			o.refused = append(o.refused, e)
			o.failed = append(o.failed, mutationError(e, d, p.region.Server, err))
			continue
		}
		if len(o.back) == 0 || o.cure.Uncounted {
			o.cure, o.pause, o.cause = d, pause, err
		}
		o.search = o.search || search
		again[string(e.row())] = true
		o.back = append(o.back, e)
	}
	o.moved = w.env.Correct(p.region, o.cure)
}

// suspected reports whether enough of the lane's calls ended with the connection to search for the cause.
func (p *part) suspected() bool { return p.search.suspects > 0 || p.search.cuts+1 >= cutsBefore }

// count returns the number of mutations with the given remedy.
func (o *outcome) count(r remote.Remedy) (n int) {
	for _, err := range o.errs {
		if err != nil && remote.Diagnose(err).Remedy == r {
			n++
		}
	}
	return n
}

// spent reports whether a mutation has used up its retries or its time.
func (e entry) spent(pause time.Duration) bool {
	return int(e.attempts) > e.flight.mutator.opts.Retries || time.Now().Add(pause).After(e.flight.deadline)
}

func mutationError(e entry, d remote.Diagnosis, server string, err error) MutationError {
	kind := d.Kind
	if kind == 0 {
		kind = remote.Transient
	}
	m := MutationError{Index: int(e.index), Kind: kind, Attempts: e.tries(), Server: server, Err: err}
	if d.Remedy != remote.Reconnect {
		m.Class = d.Class
	}
	return m
}
