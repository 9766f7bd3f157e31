package deadletter

import (
	"encoding/json"
	"testing"
	"time"

	"brine/event"
)

// TestObjects checks that bytes that are not text are base64, null is absent, and value and headers are present only on request.
func TestObjects(t *testing.T) {
	at := time.UnixMilli(1_357_034_220_000)
	k := Kept{
		Letter: Letter{Record: &event.Record{Topic: "t", Partition: 1, Offset: 7, Timestamp: 5, Key: []byte{0xff}, Value: []byte("v"),
			Headers: []event.Header{{Key: "h", Value: []byte("w")}, {Key: "null"}}}, Reason: event.WrongType, Field: "f", Group: "g", Time: at},
		Place: Place{"t.dead", 1, 9},
	}
	short := `{"pipeline":"p.rows","group":"g","topic":"t","partition":1,"offset":7,"timestamp":5,"reason":"wrong_type","field":"f",` +
		`"written":"2013-01-01T09:57:00Z","place":"t.dead/1:9","key_base64":"/w=="`
	for whole, want := range map[bool]string{false: short + "}", true: short + `,"headers":[{"name":"h","value":"w"},{"name":"null"}],"value":"v"}`} {
		if got, err := json.Marshal(k.Object("p.rows", whole)); err != nil || string(got) != want {
			t.Errorf("%s, %v; expected %s", got, err, want)
		}
	}
	k.Replayed = at
	if o := k.Object("p.rows", false); !o.Replayed.Equal(at) {
		t.Errorf("replayed %v", o.Replayed)
	}
	if place := k.Origin().InTopic(); place != "1:7" {
		t.Errorf("the record is at %s", place)
	}
}

// TestEveryReasonHasAFix checks that every dead letter can say what to do about it.
func TestEveryReasonHasAFix(t *testing.T) {
	for _, reason := range event.Rejects {
		if Fix(reason) == "" {
			t.Errorf("nothing helps against %s", reason)
		}
	}
}

func TestOutcomesAdd(t *testing.T) {
	o := Outcome{Rejected: map[event.Reason]int{}}
	last := &Letter{}
	o.add(Outcome{Written: 2, Rejected: map[event.Reason]int{event.WrongType: 1}, Last: last})
	o.add(Outcome{Written: 1, Rejected: map[event.Reason]int{event.WrongType: 2}})
	if o.Written != 3 || o.Rejected[event.WrongType] != 3 || o.Last != last {
		t.Errorf("%+v", o)
	}
}
