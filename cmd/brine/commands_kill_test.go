package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"brine/ingest"
	"brine/internal/sample"
	"brine/serve/client"
)

// signed signs requests with an API token, and says why.
type signed string

func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(s))
	r.Header.Set("Brine-Reason", "a test")
	return http.DefaultTransport.RoundTrip(r)
}

// want is a command that is given until it is answered, always by the same key upon the same version.
type want struct {
	order   sample.Change
	command string
	row     client.Row
	given   client.Command
}

// TestServeIsKilledInTheMiddleOfCommands kills brine serve ten times while commands are given: of what was answered nothing is lost, and what
// was asked again is there once, by what the topic holds.
func TestServeIsKilledInTheMiddleOfCommands(t *testing.T) {
	t.Parallel()
	const kills, perRound, givers = 10, 12, 6
	j := newShop(t, embeddedStack(t))
	j.withAccounts()
	token := signed(j.operator())
	left := make(chan *want, shopOrders)
	var all []*want
	for _, list := range j.orders {
		for _, o := range list {
			cmd := map[string]string{"created": "cancel", "paid": "cancel", "shipped": "confirm", "received": "delete", "cancelled": "delete"}[o.Status]
			if cmd != "" && o.Deleted == nil && len(all) < 3*kills*perRound {
				all = append(all, &want{order: o, command: cmd})
				left <- all[len(all)-1]
			}
		}
	}
	for round := range kills + 1 {
		s := j.serve()
		s.HTTP = &http.Client{Transport: token}
		answered := make(chan struct{}, len(all))
		open := len(all) - j.answered(all)
		var wg sync.WaitGroup
		for range givers {
			wg.Go(func() { j.giveAll(s, left, answered) })
		}
		if round == kills {
			for range open {
				<-answered
			}
			close(left)
			wg.Wait()
			s.stop()
			break
		}
		for range perRound {
			<-answered
		}
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = s.cmd.Wait() // it was killed
		wg.Wait()
	}
	j.must("run", "-q", "-c", j.file, "--until-end") // the index lies in the folder of one process
	s := j.serve()
	s.HTTP = &http.Client{Transport: token}
	j.judgeCommands(s, all)
	s.stop()
}

// answered is how many commands were; nobody gives any.
func (j *shopJob) answered(all []*want) (n int) {
	for _, w := range all {
		if w.given.ID != "" {
			n++
		}
	}
	return n
}

// withAccounts adds accounts to the configuration.
func (j *shopJob) withAccounts() {
	f, err := os.OpenFile(j.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "accounts: { connect: %q }\nserve: { ops: { listen: \"127.0.0.1:0\" } }\n",
			"embedded:"+filepath.Join(j.t.TempDir(), "accounts"))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		j.t.Fatal(err)
	}
}

// operator makes an operator, and returns an API token of his.
func (j *shopJob) operator() (token string) {
	for _, args := range [][]string{{"add", "op", "--role", "operator"}, {"token", "op", "--for", "a test"}} {
		cmd := j.command(slices.Concat([]string{"account"}, args, []string{"-c", j.file})...)
		cmd.Stdin = strings.NewReader("harbour violin teapot quilt\n")
		out, err := cmd.Output()
		if err != nil {
			j.t.Fatalf("%v: %v", args, err)
		}
		token = strings.TrimSpace(string(out))
	}
	return token
}

// giveAll gives commands until the server is gone or none is left; what is not answered goes back.
func (j *shopJob) giveAll(s *serving, left chan *want, answered chan struct{}) {
	table := "centre:" + j.name + "_orders"
	for w := range left {
		gone, err := false, error(nil)
		if w.row.Row == "" {
			w.row, err = s.Find(j.t.Context(), table, url.Values{"user": {w.order.User}, "order": {w.order.Order}, "created": {fmt.Sprint(w.order.Created)}})
		}
		if err == nil {
			w.given, err = s.Give(j.t.Context(), table, w.row.Row, w.command, w.row.StateVersion, w.order.Order, nil)
		}
		p, ok := errors.AsType[*client.Problem](err)
		switch {
		case err == nil:
			answered <- struct{}{}
			continue
		case !ok:
			gone = true
		case p.Status != http.StatusServiceUnavailable && !strings.HasSuffix(p.Type, "#running"):
			j.t.Errorf("%s of %s: %v", w.command, w.order.Order, err)
			answered <- struct{}{}
			continue
		}
		left <- w
		if gone {
			return
		}
	}
}

// judgeCommands holds what was answered to the topic: each command is there, alone or as copies of itself, and no other.
func (j *shopJob) judgeCommands(s *serving, all []*want) {
	t, found := j.t, map[string]string{}
	reader := ingest.NewTopicReader(ingest.Options{Kafka: ingest.Kafka{Brokers: j.brokers}, Topic: j.name + ".orders"})
	defer reader.Close()
	copies := 0
	ends, err := endOffsets(t.Context(), j.client(), j.name+".orders")
	if err != nil {
		t.Fatal(err)
	}
	for part, end := range ends {
		for r, err := range reader.Records(t.Context(), part, 0, end) {
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range r.Headers {
				if has, ok := found[string(h.Value)]; ok && has != string(r.Value) {
					t.Errorf("command %s says %s and %s", h.Value, has, r.Value)
				} else if ok {
					copies++
				}
				found[string(h.Value)] = string(r.Value)
			}
		}
	}
	for _, w := range all {
		var c sample.Change
		if err := json.Unmarshal([]byte(found[w.given.ID]), &c); err != nil || c.Order != w.order.Order || c.Status != w.given.To || c.At != w.given.Version {
			t.Errorf("%s of %s was answered as %+v, and the topic has %q: %v", w.command, w.order.Order, w.given, found[w.given.ID], err)
		}
		delete(found, w.given.ID)
	}
	for id, value := range found {
		t.Errorf("command %s is in the topic a second time, as %s", id, value)
	}
	for _, w := range all { // and each was applied
		s.After = w.given.Token
		for state := ""; state != "applied"; {
			c, err := s.Given(t.Context(), "centre:"+j.name+"_orders", w.given.ID)
			if err != nil || c.State == "failed" || c.State == "overtaken" {
				t.Fatalf("%s of %s: %+v, %v", w.command, w.order.Order, c, err)
			}
			state = c.State
		}
	}
	t.Logf("%d commands, %d of them published again", len(all), copies)
}
