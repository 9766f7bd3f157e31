package deadletter

import (
	"errors"
	"testing"

	"brine/event"
)

// TestALetterIsMarkedOnceAllItsEventsAreWritten replays records of several rows: one has a row that is retried and then written, or halts;
// another has a row that is rejected.
func TestALetterIsMarkedOnceAllItsEventsAreWritten(t *testing.T) {
	for name, c := range map[string]struct {
		then event.Verdict
		want string
	}{
		"retried": {event.Retry, "0:1 undecodable replayed, 0:3 undecodable replayed, 0:2 refused"},
		"halted":  {event.Halt, "0:1 undecodable, 0:3 undecodable replayed, 0:2 refused"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBroker(t, 1)
			d := openDead(t, b)
			if err := d.Write(t.Context(), []Letter{bad(0, 1, `{"type":"INSERT","data":[{"n":"1"},{"n":"2"},{"n":"3"}]}`),
				bad(0, 2, `{"type":"INSERT","data":[{"n":"4"},{"n":"5"}]}`), bad(0, 3, `{"type":"ALTER","data":null}`)}); err != nil {
				t.Fatal(err)
			}
			s := newStore()
			s.decide = func(call int, batch []place) ([]event.Failure, error) {
				switch call {
				case 0:
					return []event.Failure{{Index: 1, Verdict: event.Retry, Reason: event.Unavailable, Err: errors.New("busy")},
						{Index: 4, Verdict: event.Reject, Reason: event.Refused, Err: errors.New("too hot")}}, nil
				case 1:
					return all(batch, c.then, event.NoTable), nil
				}
				return nil, nil
			}
			to := target(s)
			to.Schema = (&event.Envelope{Form: event.Canal}).Wrap(to.Schema)
			got, err := b.log(t).Replay(t.Context(), to, b.kept(t))
			if (err != nil) != (c.then == event.Halt) {
				t.Fatal(err)
			}
			if got.Rejected[event.Refused] != 1 {
				t.Errorf("outcome %+v", got)
			}
			if now := words(b.kept(t)); now != c.want {
				t.Errorf("letters %s, expected %s", now, c.want)
			}
		})
	}
}
