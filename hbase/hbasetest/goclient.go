package hbasetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/hbase"
)

// Go is our own client. It runs the scripts concurrently, each with its own tables.
func Go(t *testing.T, connect, prefix string, scripts []*Script) []Answers {
	return GoWith(hbase.Options{})(t, connect, prefix, scripts)
}

// GoWith is our own client with other options, such as TLS and Kerberos.
func GoWith(o hbase.Options) Client {
	o.Retries, o.Pause = 20, 20*time.Millisecond
	return func(t *testing.T, connect, prefix string, scripts []*Script) []Answers {
		o.Connect = connect
		return runScripts(t, o, prefix, scripts)
	}
}

func runScripts(t *testing.T, o hbase.Options, prefix string, scripts []*Script) []Answers {
	client, err := hbase.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open %s: %v", o.Connect, err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	all := make([]Answers, len(scripts))
	var side errgroup.Group
	side.SetLimit(6) // they mostly wait for the master
	for i, s := range scripts {
		side.Go(func() error {
			all[i] = Answers{}
			for _, op := range s.Ops {
				all[i][op.Line] = answer(t, client, s.prefix(prefix), op)
			}
			return nil
		})
	}
	_ = side.Wait() // scripts return no errors: an answer may be one
	return all
}

// answer runs one operation.
func answer(t *testing.T, client *hbase.Client, prefix string, op Op) []string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := &runner{ctx: ctx, client: client, prefix: prefix}
	err := r.run(op)
	if err != nil {
		r.say("error %s", class(err))
		t.Logf("line %d, %s: %v", op.Line, strings.Join(op.Words, " "), err)
	}
	for i, line := range r.lines {
		r.lines[i] = strings.ReplaceAll(line, prefix, "")
	}
	return r.lines
}

// runner collects the answer of one operation.
type runner struct {
	ctx    context.Context
	client *hbase.Client
	prefix string
	lines  []string
}

func (r *runner) say(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *runner) run(op Op) error {
	if op.Words[0] == "tables" {
		return r.tables()
	}
	if op.Words[0] == "peers" {
		return r.peers()
	}
	do, ok := operations[op.Words[0]]
	if !ok {
		return fmt.Errorf("no such operation: %s", op.Words[0])
	}
	return do(r, r.prefix+op.Words[1], op.Words[2:], op.More)
}

func (r *runner) ok(err error) error {
	if err == nil {
		r.say("ok")
	}
	return err
}

func simple(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// class returns the name of the exception behind an error, without its package. Some of hbase's errors stand for an exception.
func class(err error) string {
	if e := (*hbase.Error)(nil); errors.As(err, &e) && e.Class != "" {
		return simple(e.Class)
	}
	for sentinel, name := range map[error]string{
		hbase.ErrNoTable: "TableNotFoundException", hbase.ErrNoFamily: "NoSuchColumnFamilyException",
		hbase.ErrTableExists: "TableExistsException", hbase.ErrDisabled: "TableNotEnabledException",
		hbase.ErrEnabled: "TableNotDisabledException", hbase.ErrNoSnapshot: "RestoreSnapshotException",
	} {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	return err.Error()
}
