package verifications

import (
	"context"
	"errors"
	"iter"
	"testing"

	"brine/indexer"
	"brine/internal/fault"
	"brine/verify"
)

// failing is a store whose calls all fail.
type failing struct{ err error }

func (f failing) Splits(context.Context) ([][]byte, error) { return nil, nil }

func (f failing) Get(context.Context, [][]byte) ([][]verify.Cell, error) { return nil, f.err }

func (f failing) Scan(context.Context, []byte, []byte) iter.Seq2[verify.Row, error] {
	return func(yield func(verify.Row, error) bool) { yield(verify.Row{}, f.err) }
}

func (f failing) Remove(context.Context, []byte, []verify.Cell) error { return f.err }

// TestASearchEngineThatIsNotThere checks that an engine that does not answer is unreachable, with a fix, and that one that refuses is not.
func TestASearchEngineThatIsNotThere(t *testing.T) {
	for _, c := range []struct {
		err         error
		unreachable bool
	}{
		{errors.New("connection refused"), true},
		{&indexer.RequestError{Status: 403}, false},
		{nil, false},
	} {
		store := searched{failing{c.err}}
		_, got := store.Get(t.Context(), nil)
		calls := []error{got, store.Remove(t.Context(), nil, nil)}
		for _, err := range store.Scan(t.Context(), nil, nil) {
			calls = append(calls, err)
		}
		for i, err := range calls {
			if err = failureOf(t, err); !errors.Is(err, c.err) || isUnreachable(err) != c.unreachable {
				t.Errorf("%v in call %d: %v", c.err, i, err)
			}
		}
	}
}

func failureOf(t *testing.T, err error) error {
	if err == nil {
		return nil
	}
	return Failure(t.Context(), err)
}

func isUnreachable(err error) bool {
	is, ok := errors.AsType[*fault.Error](err)
	return ok && is.Kind == fault.Unreachable && is.Fix != ""
}
