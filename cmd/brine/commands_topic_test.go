package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"brine/event"
	"brine/internal/backoff"
	"brine/internal/sample"
	"brine/serve/client"
)

// TestCommandsOfATopicThatTheShopAnswers gives commands that go to a topic of their own. The shop answers one in the pipeline's topic, and
// it is applied; the other holds its row until answer_within has passed, and then another command can have it.
func TestCommandsOfATopicThatTheShopAnswers(t *testing.T) {
	t.Parallel()
	j := newShop(t, embeddedStack(t))
	j.withAccounts("")
	topic := j.name + ".commands"
	j.replace("      record_key: order\n", "      record_key: order\n      topic: "+topic+"\n")
	if err := createTopicBy(t.Context(), j.client(), topic, devPartitions); err != nil {
		t.Fatal(err)
	}
	var shipped []sample.Change
	for _, list := range j.orders {
		for _, o := range list {
			if o.Status == sample.Shipped && o.Deleted == nil {
				shipped = append(shipped, o)
			}
		}
	}
	by := &http.Client{Transport: signed(j.operator())}
	serve := func() *serving {
		s := j.serve()
		s.HTTP = by
		return s
	}
	s := serve()
	answered := j.confirm(s, &shipped[0], "a")
	j.confirm(s, &shipped[1], "b")
	s.stop() // the index is in the folder of one process
	value, _ := json.Marshal(sample.Change{Order: shipped[0].Order, User: shipped[0].User, Created: shipped[0].Created,
		At: answered.Version + 5, Status: sample.Received})
	j.topic = j.name + ".orders"
	j.send(0, string(value))
	j.must("run", "-q", "-c", j.file, "--until-end")

	s = serve()
	j.becomes(s, answered, "applied")
	if _, err := j.tries(s, &shipped[1], "c"); err == nil {
		t.Error("two commands hold one row")
	}
	s.stop()
	j.replace("      topic: "+topic+"\n", "      topic: "+topic+"\n      answer_within: 1s\n")

	s = serve()
	left := j.confirm(s, &shipped[1], "b") // the same request
	j.becomes(s, left, "unanswered")
	again := j.confirm(s, &shipped[1], "c")
	s.stop()

	got := map[string]string{}
	j.eachPublished(topic, func(id string, r *event.Record) { got[id] = string(r.Key) })
	want := map[string]string{answered.ID: shipped[0].Order, left.ID: shipped[1].Order, again.ID: shipped[1].Order}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the topic %s has the commands %v, want %v", topic, got, want)
	}
}

// tries gives the command confirm for an order once.
func (j *shopJob) tries(s *serving, o *sample.Change, key string) (client.Command, error) {
	j.t.Helper()
	table := "centre:" + j.name + "_orders"
	row, err := s.Find(j.t.Context(), table, url.Values{"user": {o.User}, "order": {o.Order}, "created": {fmt.Sprint(o.Created)}})
	if err != nil {
		return client.Command{}, err
	}
	return s.Give(j.t.Context(), table, row.Row, "confirm", row.StateVersion, key, nil)
}

func (j *shopJob) confirm(s *serving, o *sample.Change, key string) client.Command {
	j.t.Helper()
	c, err := j.tries(s, o, key)
	if err != nil {
		j.t.Fatal(err)
	}
	return c
}

// becomes waits until a command has a state.
func (j *shopJob) becomes(s *serving, c client.Command, want string) {
	j.t.Helper()
	for c.State != want {
		if c.State != "accepted" && c.State != "published" {
			j.t.Fatalf("the command is %s (%s), want %s", c.State, c.Detail, want)
		}
		if err := backoff.Wait(j.t.Context(), 20*time.Millisecond); err != nil {
			j.t.Fatal(err)
		}
		var err error
		if c, err = s.Given(j.t.Context(), "centre:"+j.name+"_orders", c.ID); err != nil {
			j.t.Fatal(err)
		}
	}
}
