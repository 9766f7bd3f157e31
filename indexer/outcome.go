package indexer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"brine/event"
)

// remedy is what a lane does about the outcome of one write or of one call.
type remedy uint8

const (
	settled remedy = iota + 1 // durable
	newer                     // the index holds something newer
	wait                      // later, after a pause
	reread                    // immediately, after another read: the document is not as it was read
	split                     // in smaller requests
	refuse                    // never: it does not fit the mapping
	suspect                   // never, if the index accepts other documents
	isolate                   // the request is at fault, or one of its documents: in halves, then as suspect
	denied                    // not until an operator acts: access denied
	noIndex                   // not until an operator acts: no such index
	closed                    // not until an operator acts: an index that accepts nothing
)

// remedyOf decides by the status, and distinguishes a document's fault from its index's by the beginning of the fault's kind, because the
// names of exceptions change from release to release. Unknown means wait.
func remedyOf(status int, kind string) remedy {
	switch {
	case status >= 200 && status < 300:
		return settled
	case status == http.StatusConflict:
		return newer
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return denied
	case status == http.StatusNotFound:
		return noIndex
	case status == http.StatusRequestEntityTooLarge:
		return split
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return wait
	case status >= 400 && status < 500:
		return remedyOfFault(kind)
	default:
		return wait
	}
}

func remedyOfFault(kind string) remedy {
	for _, begin := range []string{"document_", "mapper_", "strict_"} {
		if strings.HasPrefix(kind, begin) {
			return refuse
		}
	}
	if strings.HasPrefix(kind, "index_") {
		return closed
	}
	return suspect
}

// remedyOfCall is remedyOf for a call that failed as a whole.
func remedyOfCall(err error) remedy {
	var refused *RequestError
	if !errors.As(err, &refused) {
		return wait
	}
	switch r := remedyOf(refused.Status, refused.Kind); r {
	case refuse, suspect:
		return isolate
	case settled, newer:
		return wait
	default:
		return r
	}
}

// unwritten returns the failure of an event whose document may be written later.
func (o *op) unwritten(err error) event.Failure {
	return event.Failure{Index: o.event, Verdict: event.Retry, Reason: event.Unavailable, Rest: event.RestOf(o.write), Err: err}
}

// shown returns an error as it may be shown. What an index says about one document of events with masked fields is left out.
func (w *Writer) shown(err error) error {
	if len(w.opts.Schema.Masked) > 0 {
		return Unquoted(err)
	}
	return err
}

// failureOf returns the failure of an event whose document ended with the remedy.
func failureOf(o *op, r remedy, err error) event.Failure {
	f := o.unwritten(nil)
	fix := ""
	switch r {
	case refuse:
		f.Verdict, f.Reason = event.Reject, event.MappingRefused
	case suspect, isolate:
		f.Verdict, f.Reason = event.Reject, event.Refused
	case split:
		f.Verdict, f.Reason = event.Reject, event.TooLarge
	case denied:
		f.Verdict, f.Reason = event.Halt, event.Denied
		fix = "; grant the user of search.connect the index privileges, or lift the index's write block"
	case noIndex:
		f.Verdict, f.Reason = event.Halt, event.NoTable
		fix = "; create it with: brine tables apply"
	case closed:
		f.Verdict, f.Reason = event.Halt, event.NoTable
		fix = "; open the index, or move its alias to another one"
	}
	id := string(o.id)
	if o.doc.masked {
		id, err = event.Hidden, event.Without(err, id)
	}
	f.Err = fmt.Errorf("index %s: document %s: %w%s", o.doc.Index, id, err, fix)
	return f
}

// cause returns err, or the cause of the context's end if that is the reason for err.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil && errors.Is(err, ctx.Err()) {
		return c
	}
	return err
}
