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
	"time"

	"brine/event"
	"brine/ingest"
	"brine/internal/backoff"
	"brine/internal/sample"
	"brine/internal/testenv"
	"brine/serve/client"
)

// signed signs requests with an API token, with a reason.
type signed string

func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(s))
	r.Header.Set("Brine-Reason", "a test")
	return http.DefaultTransport.RoundTrip(r)
}

// want is a command that is sent until it is answered, always with the same key and for the same version.
type want struct {
	order   sample.Change
	command string
	row     client.Row
	given   client.Command
}

// TestServeIsKilledInTheMiddleOfCommands kills brine serve ten times while commands are sent. According to the topic, no answered command
// is lost, and a repeated request has one effect.
func TestServeIsKilledInTheMiddleOfCommands(t *testing.T) {
	t.Parallel()
	killed(t, "", func(s *serving) bool {
		if err := s.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = s.cmd.Wait() // it was killed
		return true
	})
}

// TestDatabaseIsKilledInTheMiddleOfCommands does the same to the MariaDB of the accounts and the outbox while brine serve goes on, and
// every third time to both.
func TestDatabaseIsKilledInTheMiddleOfCommands(t *testing.T) {
	t.Parallel()
	server := testenv.StartMariaDB(t)
	n := 0
	killed(t, "mysql://"+server.Addr+"/brine", func(s *serving) (gone bool) {
		server.Kill()
		if n++; n%3 == 0 {
			gone = true
			if err := s.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = s.cmd.Wait() // it was killed
		}
		server.Again()
		return gone
	})
}

// killed sends commands with accounts stored at connect, and kills ten times in the middle. kill reports whether brine serve is gone.
func killed(t *testing.T, connect string, kill func(*serving) (gone bool)) {
	const kills, perRound, givers = 10, 12, 6
	j := newShop(t, embeddedStack(t))
	j.withAccounts(connect)
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
	var wg sync.WaitGroup
	answered := make(chan struct{}, len(all))
	start := func() *serving {
		s := j.serve()
		s.HTTP = &http.Client{Transport: token}
		for range givers {
			wg.Go(func() { j.giveAll(s, left, answered) })
		}
		return s
	}
	s := start()
	for n := range kills {
		began := time.Now()
		for range perRound {
			<-answered
		}
		t.Logf("kill %d after %v", n+1, time.Since(began).Round(time.Millisecond))
		if kill(s) {
			wg.Wait()
			s = start()
		}
	}
	for range len(all) - kills*perRound {
		<-answered
	}
	close(left)
	wg.Wait()
	s.stop()
	j.must("run", "-q", "-c", j.file, "--until-end") // the index is in the folder of one process
	s = j.serve()
	s.HTTP = &http.Client{Transport: token}
	j.judgeCommands(s, all)
	s.stop()
}

// withAccounts adds accounts to the configuration. If connect is empty, they are in a folder of the test.
func (j *shopJob) withAccounts(connect string) {
	user := ""
	if connect == "" {
		connect = "embedded:" + filepath.Join(j.t.TempDir(), "accounts")
	} else {
		user = ", user: root"
	}
	f, err := os.OpenFile(j.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "accounts: { connect: %q%s }\nserve: { ops: { listen: \"127.0.0.1:0\" } }\n", connect, user)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		j.t.Fatal(err)
	}
}

// operator creates an operator and returns an API token.
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

// giveAll sends commands until the server is gone or none is left. Unanswered commands go back.
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
		_ = backoff.Wait(j.t.Context(), 10*time.Millisecond) // otherwise the next try reports that the test has ended
	}
}

// eachPublished calls each for all records in a topic that have headers, which are those of commands, with the command's id.
func (j *shopJob) eachPublished(topic string, each func(id string, r *event.Record)) {
	j.t.Helper()
	reader := ingest.NewTopicReader(ingest.Options{Kafka: ingest.Kafka{Brokers: j.brokers}, Topic: topic})
	defer reader.Close()
	ends, err := endOffsets(j.t.Context(), j.client(), topic)
	if err != nil {
		j.t.Fatal(err)
	}
	for part, end := range ends {
		for r, err := range reader.Records(j.t.Context(), part, 0, end) {
			if err != nil {
				j.t.Fatal(err)
			}
			for _, h := range r.Headers {
				each(string(h.Value), r)
			}
		}
	}
}

// judgeCommands compares the answers with the topic: each command is there, alone or as identical copies, and no others are.
func (j *shopJob) judgeCommands(s *serving, all []*want) {
	t, found, copies := j.t, map[string]string{}, 0
	j.eachPublished(j.name+".orders", func(id string, r *event.Record) {
		if has, ok := found[id]; ok && has != string(r.Value) {
			t.Errorf("command %s says %s and %s", id, has, r.Value)
		} else if ok {
			copies++
		}
		found[id] = string(r.Value)
	})
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
	for _, w := range all { // each was applied
		s.After = w.given.Token
		for state := ""; state != "applied"; {
			c, err := s.Given(t.Context(), "centre:"+j.name+"_orders", w.given.ID)
			if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusServiceUnavailable {
				continue // a busy machine takes longer
			}
			if err != nil || c.State == "failed" || c.State == "overtaken" {
				t.Fatalf("%s of %s: %+v, %v", w.command, w.order.Order, c, err)
			}
			state = c.State
		}
	}
	t.Logf("%d commands, %d of them published again", len(all), copies)
}
