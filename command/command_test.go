package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/segmentio/kafka-go"

	"brine/command"
	"brine/event"
	"brine/internal/sample"
)

// TestRefusals checks that the faults of a request are reported in their order, and that nothing of a refused request is stored, so that
// its key can be used.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		db := database(t)
		defer db.Close()
		for id, state := range map[string]string{"A": "shipped", "B": "created"} {
			w.shop(sample.Change{Order: id, User: "u", Created: 5, At: 7, Status: state})
		}
		gone := true
		w.shop(sample.Change{Order: "C", User: "u", Created: 5, At: time.Now().UnixMilli(), Status: "deleted", Deleted: &gone})
		w.apply(t, 9)
		d, stop := w.desk(t, db)
		defer stop()
		ask := func(order, name, match, key string, fields string) error {
			a := command.Ask{Account: "1", Role: "customer", Table: "centre:orders", Row: w.row(t, order, "u", 5), Command: name, Key: key, IfMatch: match}
			if name == "restore" {
				a.Role = "operator"
			}
			if err := json.Unmarshal([]byte(fields), &a.Fields); err != nil {
				t.Fatal(err)
			}
			_, _, err := d.Do(t.Context(), &a)
			return err
		}
		for _, c := range []struct {
			order, name, match, key, fields string
			want                            command.Kind
		}{
			{"A", "fly", `"7"`, "k", `{}`, command.NotFound},
			{"A", "confirm", `"7"`, "", `{}`, command.NoKey},
			{"A", "confirm", `"7"`, strings.Repeat("k", 256), `{}`, command.Invalid},
			{"A", "confirm", `"7"`, "k\n", `{}`, command.Invalid},
			{"A", "confirm", ``, "k", `{}`, command.NoVersion},
			{"A", "confirm", `7`, "k", `{}`, command.Invalid},
			{"A", "confirm", `*`, "k", `{}`, command.Invalid},
			{"A", "confirm", `W/"7"`, "k", `{}`, command.Invalid},
			{"A", "confirm", `"6"`, "k", `{}`, command.Stale},
			{"A", "confirm", `"8.9"`, "k", `{}`, command.Stale},
			{"A", "confirm", `"7"`, "k", `{"reason": "x"}`, command.Invalid},
			{"A", "cancel", `"7"`, "k", `{}`, command.NotAllowed},
			{"B", "cancel", `"7"`, "k", `{"reason": 7}`, command.Invalid},
			{"B", "cancel", `"7"`, "k", `{"reason": null}`, command.Invalid},
			{"none", "confirm", `"7"`, "k", `{}`, command.NotFound},
			{"C", "confirm", `"7"`, "k", `{}`, command.NotFound}, // it is deleted
			{"A", "restore", `"7"`, "k", `{}`, command.NotAllowed},
			{"A", "confirm", `"7.9"`, "k", `{}`, ""},
			{"A", "confirm", `"7.9"`, "k", `{}`, ""}, // the answer of the first
			{"A", "confirm", `"7"`, "k", `{}`, command.KeyReused},
			{"A", "confirm", `"7"`, "l", `{}`, command.Held},
		} {
			if err := ask(c.order, c.name, c.match, c.key, c.fields); kindOf(err) != c.want || c.want == "" && err != nil {
				t.Errorf("%s of %s with %s, key %.9q, %s: %v, want %q", c.name, c.order, c.match, c.key, c.fields, err, c.want)
			}
		}
	})
}

// TestUndoEndsBeforeThePurge checks that a delete can be undone as long as nothing of it can have been purged.
func TestUndoEndsBeforeThePurge(t *testing.T) {
	m := machineOf(t)
	m.Purged = 24 * time.Hour
	o := command.Order{State: "deleted", Version: 1_000_000, Deleted: true, Fields: map[string]event.Value{
		"order": event.TextValue("A"), "user": event.TextValue("u"), "created": event.TimeValue(5)}}
	for after, want := range map[time.Duration]command.Kind{time.Hour: "", 23 * time.Hour: "", 23*time.Hour + 50*time.Minute: command.Gone, 48 * time.Hour: command.Gone} {
		if _, err := m.Decide(m.Find("restore"), &o, 1_000_000, nil, 1_000_000+after.Milliseconds()); kindOf(err) != want {
			t.Errorf("%v after the delete: %v, want %q", after, err, want)
		}
	}
}

// TestAFutureVersionIsFollowed checks that a command is newer than what it changes, even if that has a version ahead of the clock.
func TestAFutureVersionIsFollowed(t *testing.T) {
	m := machineOf(t)
	o := command.Order{State: "shipped", Version: 1_000_000, Fields: map[string]event.Value{
		"order": event.TextValue("A"), "user": event.TextValue("u"), "created": event.TimeValue(5)}}
	c, err := m.Decide(m.Find("confirm"), &o, 1_000_000, nil, 999_000)
	const want = `{"at":1000001,"created":5,"order":"A","status":"received","user":"u"}`
	if err != nil || c.At != 1_000_001 || string(c.Value) != want || string(c.Key) != "A" {
		t.Errorf("%+v %s: %v", c, c.Value, err)
	}
	o.Version = 1_000_000 + (25 * time.Hour).Milliseconds()
	if _, err := m.Decide(m.Find("confirm"), &o, o.Version, nil, 999_000); err == nil {
		t.Error("a change that the pipeline would refuse is published")
	}
}

// TestPartitioners compares them with those of kafka-go, which has all three.
func TestPartitioners(t *testing.T) {
	for p, b := range map[command.Partitioner]kafka.Balancer{
		command.Murmur2: kafka.Murmur2Balancer{Consistent: true}, command.CRC32: kafka.CRC32Balancer{Consistent: true}, command.FNV1a: &kafka.Hash{},
	} {
		for i := range 500 {
			key := []byte(fmt.Sprint("G", i*i*7919)[:1+i%9%len(fmt.Sprint("G", i*i*7919))])
			parts := make([]int, 1+i%13)
			for n := range parts {
				parts[n] = n
			}
			if got, want := p.Partition(key, len(parts)), b.Balance(kafka.Message{Key: key}, parts...); got != want {
				t.Fatalf("%s: %q of %d is %d, kafka-go says %d", p, key, len(parts), got, want)
			}
		}
	}
}

// FuzzToken checks that any text is refused or is a token that encodes to the same text.
func FuzzToken(f *testing.F) {
	f.Add(command.Token{Topic: "shop.orders", Partition: 3, Offset: 1 << 40}.String())
	f.Add("")
	f.Add("AQAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := command.ParseToken(text)
		if err == nil && (token.String() != text || token.Offset < 0 || token.Partition < 0 || token.Topic == "") {
			t.Errorf("%q is %+v, which is %q", text, token, token.String())
		}
	})
}

// FuzzFields checks that anything that a caller gives is refused or becomes a change that means exactly that.
func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"reason": "too <late> \u2028 绿茶"}`))
	f.Add([]byte(`{"reason": "\ud800"}`))
	f.Add([]byte(`{"status": "paid"}`))
	f.Add([]byte(`{"reason": null, "reason": {}}`))
	m := machineOf(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(body, &fields) != nil {
			return
		}
		given, err := m.Given(m.Find("cancel"), fields)
		if err != nil {
			if kindOf(err) != command.Invalid {
				t.Fatal(err)
			}
			return
		}
		o := command.Order{State: "paid", Version: 6, Fields: map[string]event.Value{
			"order": event.TextValue("A"), "user": event.TextValue("u"), "created": event.TimeValue(5)}}
		c, err := m.Decide(m.Find("cancel"), &o, 6, given, 9)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		var wrote sample.Change
		if err := json.Unmarshal(c.Value, &wrote); err != nil || wrote.Order != "A" || wrote.Status != "cancelled" || wrote.At != 9 {
			t.Fatalf("%s: %s %v", body, c.Value, err)
		}
		var said struct{ Reason string }
		if err := json.Unmarshal(body, &struct{ Reason *string }{&said.Reason}); err == nil && len(fields) == 1 && wrote.Reason != said.Reason {
			t.Fatalf("%s is written as %s", body, c.Value)
		}
		if !utf8.Valid(c.Value) {
			t.Fatalf("%q is no UTF-8", c.Value)
		}
	})
}

// TestOneBadWriteSpoilsNoOther checks that if one of several commands that are stored together is refused by the database, the others are
// stored.
func TestOneBadWriteSpoilsNoOther(t *testing.T) {
	db := database(t)
	defer db.Close()
	if _, err := db.DB().ExecContext(t.Context(), "CREATE TRIGGER bad BEFORE INSERT ON commands WHEN NEW.idem_key = 'bad' BEGIN SELECT RAISE(ROLLBACK, 'given up'); END"); err != nil {
		t.Fatal(err)
	}
	box := command.NewOutbox(db.DB())
	defer box.Close()
	results := make(chan string, 40)
	for i := range cap(results) {
		go func() {
			e := command.Entry{ID: fmt.Sprint("id", i), Account: "1", Key: fmt.Sprint("k", i), Table: "t", Row: []byte{byte(i)}, Change: command.Change{Value: []byte("{}")}}
			if i%8 == 3 {
				e.Key = "bad"
			}
			err := box.Add(t.Context(), &e)
			if (err == nil) != (e.Key != "bad") {
				t.Errorf("%s: %v", e.Key, err)
			}
			results <- e.ID
		}()
	}
	for range cap(results) {
		id := <-results
		_, there, err := box.Get(t.Context(), id)
		if err != nil {
			t.Error(err)
		}
		var n int
		if _, err := fmt.Sscanf(id, "id%d", &n); err != nil || there == (n%8 == 3) {
			t.Errorf("%s is stored: %v, %v", id, there, err)
		}
	}
}
