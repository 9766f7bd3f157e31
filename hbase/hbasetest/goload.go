package hbasetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"brine/hbase"
)

// lastRound is the version that a load leaves, whatever the number of rounds.
const lastRound = 1_000_000

// load writes and reads rows in batches, one after the other, while the operations of the further lines run. Each round puts e:q at the
// round's version and deletes the previous one, puts e:p at version 1 like all rounds, and reads both back. Operations and load run
// concurrently, but their answers do not mix.
func (r *runner) load(table string, rows []string, more [][]string) error {
	rounds := &runner{ctx: r.ctx, client: r.client, prefix: r.prefix}
	begun, ended := make(chan struct{}), make(chan error, 1)
	var done atomic.Bool
	go func() { ended <- rounds.rounds(table, rows, begun, &done) }()
	var err error
	select {
	case <-begun:
		err = r.during(more)
	case err = <-ended:
		ended <- err
	}
	done.Store(true)
	if e := <-ended; err == nil {
		err = e
	}
	r.lines = append(r.lines, rounds.lines...)
	return err
}

// during runs operations one after the other; each answer follows its operation.
func (r *runner) during(more [][]string) error {
	for _, words := range more {
		if err := r.inner(words); err != nil {
			return err
		}
	}
	return nil
}

// inner runs an operation within another one, on the same table.
func (r *runner) inner(words []string) error {
	o := &runner{ctx: r.ctx, client: r.client, prefix: r.prefix}
	err := o.run(Op{Words: words})
	for _, line := range o.lines {
		r.say("%s: %s", words[0], line)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return nil
}

func (r *runner) rounds(table string, rows []string, begun chan<- struct{}, done *atomic.Bool) error {
	for round := 1; ; round++ {
		last := done.Load()
		if last {
			round = lastRound
		}
		if err := r.round(table, rows, round); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if last {
			r.say("%d rows", len(rows))
			return nil
		}
		if round == 1 {
			close(begun)
		}
	}
}

// round writes and reads all rows once. It fails if anything read differs from what was written, and prints the differences.
func (r *runner) round(table string, rows []string, round int) error {
	version := strconv.Itoa(round)
	var mutations [][]string
	var gets []hbase.Get
	for _, row := range rows {
		mutations = append(mutations,
			[]string{"put", row, "e:q@" + version + "=" + version, "e:p@1=" + version},
			[]string{"delete", row, "e:q@" + strconv.Itoa(round-1) + "/column"})
		gets = append(gets, hbase.Get{Row: parseBytes(row), MaxVersions: 10})
	}
	written := &runner{ctx: r.ctx, client: r.client}
	if err := written.batch(table, mutations); err != nil {
		return err
	}
	for i, line := range written.lines {
		if !strings.HasSuffix(line, " ok") {
			r.say("%s: %s", strings.Join(mutations[i], " "), line)
		}
	}
	results, err := r.client.GetAll(r.ctx, table, gets)
	if err != nil {
		return err
	}
	for i, result := range results {
		read := &runner{}
		read.cells(result, "")
		want := fmt.Sprintf("%s e:p@1=%s, %[1]s e:q@%[2]s=%[2]s", rows[i], version)
		if got := strings.Join(read.lines, ", "); got != want {
			r.say("wrong: %s, wanted %s", got, want)
		}
	}
	if len(r.lines) > 0 {
		return errors.New("not as it was written")
	}
	return nil
}
