package hbase

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/hbasetest"
)

// A cluster is secure or upgraded, not both; an upgrade begins with the master, whatever the seed.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		Command
		name, first string
	}{
		{Command{}, "chaos-hbase", ""},
		{Command{Secure: true}, "chaos-hbase-secure", ""},
		{Command{UpgradeFrom: "2.5.12-hadoop3"}, "upgrade-hbase", "upgrade master"},
	} {
		s, err := c.setting()
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.plan("", 1)
		if err != nil || s.name != c.name || len(plan) < s.faults || c.first != "" && plan[0] != c.first {
			t.Errorf("%s: %q, %v", s.name, plan, err)
		}
	}
	if _, err := (&Command{Secure: true, UpgradeFrom: "2.5.12-hadoop3"}).setting(); err == nil || !strings.Contains(err.Error(), "--upgrade-from") {
		t.Errorf("both: %v", err)
	}
}

// What was dialled is cut, and counted if nobody had ended it before.
func TestCutter(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c := new(cutter)
	var dialled []net.Conn
	for range 3 {
		conn, err := c.dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		dialled = append(dialled, conn)
	}
	if err := dialled[0].Close(); err != nil {
		t.Fatal(err)
	}
	c.now()
	for range dialled {
		other, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection goes on: %v", err)
		}
		_ = other.Close() // nothing was sent
	}
	if c.now(); c.cuts() != 2 {
		t.Errorf("%d cuts, want 2", c.cuts())
	}
}

// A read lacks what was acknowledged before it and is missing, or has another value, but not what may have come since.
func TestLacking(t *testing.T) {
	k := key(3, 14)
	all := slices.Repeat([]fate{acknowledged}, 5)
	if n := lacking(k, stored(k, 5), all); n != 0 {
		t.Errorf("all there: lacks %d", n)
	}
	if n := lacking(k, stored(k, 7), all); n != 0 {
		t.Errorf("more than was known: lacks %d", n)
	}
	some := slices.Clone(all)
	some[4] = given
	if n := lacking(k, stored(k, 4), some); n != 0 {
		t.Errorf("the last was not answered: lacks %d", n)
	}
	if n := lacking(k, stored(k, 3), all); n != 2 {
		t.Errorf("two missing: lacks %d", n)
	}
	if n := lacking(k, hbase.Result{Row: k}, all); n != 5 {
		t.Errorf("no row: lacks %d", n)
	}
}

// A load that reads while it writes sees in each answer what was acknowledged before.
func TestLoadReadsWhatItWrites(t *testing.T) {
	c := hbasetest.Run(t).Client(t)
	now := time.Now()
	l := &load{client: c, model: new(model), stalls: newStalls(now), reads: &reads{stalls: newStalls(now)}, rate: 2000, seed: 1}
	r := run{admin: c, load: l}
	if err := r.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	for l.run(ctx, t.Context()); l.reads.all.Load() == 0; l.run(ctx, t.Context()) { // on a busy machine, a second may be too short
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
	}
	if n := l.reads.lacking.Load(); n > 0 {
		t.Errorf("%d reads lacked %d mutations", l.reads.all.Load(), n)
	}
	if n := l.reads.failed.Load(); n > 0 {
		t.Errorf("%d reads failed", n)
	}
	f, err := l.model.verify(t.Context(), c)
	if err != nil || f.Acknowledged == 0 || f.Lost+f.Twice+f.Reordered > 0 {
		t.Errorf("%+v, %v", f, err)
	}
}
