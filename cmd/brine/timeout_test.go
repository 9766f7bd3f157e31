package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// afterTimeout is the time that a command may take besides its --timeout to start, to connect, and to report what failed, on a busy
// machine.
const afterTimeout = time.Minute

// dyingHBase is a job whose HBase dies at the first call to the job's table, when the client is already connected.
func dyingHBase(t *testing.T) (*job, *embedded.Server, <-chan struct{}) {
	t.Helper()
	servers, server := ownStack(t, embedded.Options{})
	j := newJob(t, servers)
	dead := make(chan struct{})
	server.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
		if !bytes.HasPrefix(r.Param.(*hbasepb.ScanRequest).GetRegion().GetValue(), []byte(j.table+",")) {
			return nil
		}
		go func() {
			server.Master().Kill()
			close(dead)
		}()
		return &embedded.Outcome{Silent: true}
	})
	return j, server, dead
}

// A command whose server dies ends within its --timeout, and reports the result of the last try, and where.
func TestAQuestionEndsWhenHBaseDied(t *testing.T) {
	t.Parallel()
	j, server, _ := dyingHBase(t)
	cmd := j.command("query", "-c", j.file, j.table, "waybill=UA-1545-20130101-EWR", "--timeout", "15s")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	err := cmd.Run()
	if took := time.Since(began); err == nil || cmd.ProcessState.ExitCode() != exitUnreachable || took > 15*time.Second+afterTimeout {
		t.Errorf("%v after %v", err, took)
	}
	for _, part := range []string{"brine: ", "no answer within 15s; last: ", server.Addr(), "connection refused", "hint: ", "--timeout"} {
		if !strings.Contains(stderr.String(), part) {
			t.Errorf("does not say %q: %s", part, &stderr)
		}
	}
}

// Once HBase is back, the command continues.
func TestAQuestionGoesOnWhenHBaseIsBack(t *testing.T) {
	t.Parallel()
	j, server, dead := dyingHBase(t)
	cmd := j.command("query", "-c", j.file, j.table, "waybill=UA-1545-20130101-EWR", "--timeout", "5m")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-dead
	wait(t, 500*time.Millisecond)
	if err := server.Master().Restart(""); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &stderr)
	}
}

// A replay of dead letters whose HBase died also ends within --timeout, with the result of the last try.
func TestAReplayOfDeadLettersEndsWhenHBaseDied(t *testing.T) {
	t.Parallel()
	servers, server := ownStack(t, embedded.Options{})
	j := newJob(t, servers)
	j.send(0, `{"waybill":"W1","action":"A","at":1357034220000,"station":7}`)
	j.must("run", "-q", "-c", j.file, "--until-end")
	j.replace("station: text", "station: int")
	server.Control("Multi", func(*embedded.Request) *embedded.Outcome {
		go server.Master().Kill()
		return &embedded.Outcome{Silent: true}
	})
	began := time.Now()
	out, code := j.exit("deadletters", "replay", "-c", j.file, "--timeout", "15s")
	if took := time.Since(began); code != exitUnreachable || took > 15*time.Second+afterTimeout {
		t.Errorf("exit %d after %v", code, took)
	}
	for _, part := range []string{"brine: ", "no answer in time", server.Addr(), "connection refused", "0 of 1 record written", "hint: ", "--timeout"} {
		if !strings.Contains(out, part) {
			t.Errorf("does not say %q: %s", part, out)
		}
	}
	if left := j.output("deadletters", "ls", "-c", j.file, "--json"); strings.Count(left, "\n") != 1 {
		t.Errorf("the dead letters are now\n%s", left)
	}
}

// A repair whose HBase died also ends within --timeout, and says that nothing was written.
func TestARepairEndsWhenHBaseDied(t *testing.T) {
	t.Parallel()
	servers, server := ownStack(t, embedded.Options{})
	j := newJob(t, servers)
	j.send(0, `{"waybill":"W1","action":"A","at":1357034220000,"station":"JFK"}`)
	server.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		if r.Param.(*hbasepb.MultiRequest).GetRegionAction()[0].GetAction()[0].GetMutation() == nil {
			return nil // it reads
		}
		go server.Master().Kill()
		return &embedded.Outcome{Silent: true}
	})
	began := time.Now()
	out, code := j.exit("verify", "-q", "-c", j.file, "--repair", "--timeout", "15s")
	if took := time.Since(began); code != exitUnreachable || took > 15*time.Second+afterTimeout {
		t.Errorf("exit %d after %v", code, took)
	}
	for _, part := range []string{"rewritten: 0 records, before it failed", "brine: ", "nothing was settled for 15s; last: ", server.Addr(), "hint: ", "--timeout"} {
		if !strings.Contains(out, part) {
			t.Errorf("does not say %q: %s", part, out)
		}
	}
}
