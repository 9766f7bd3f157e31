package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/segmentio/kafka-go"

	"brine/hbase/embedded"
	bleve "brine/indexer/embedded"
	brokers "brine/ingest/embedded"
)

// repair saves what it can of a data folder that brine dev refuses. What was damaged is set aside.
func (c *devCmd) repair(e *env) error {
	if c.Data == "" {
		return usage(errors.New("--repair needs --data, the folder that is to be repaired"))
	}
	if _, err := os.Stat(c.Data); err != nil {
		return usage(fmt.Errorf("--data: %w", err))
	}
	r := devRepair{env: e, dir: c.Data}
	var err error
	if r.aside, err = freeName(filepath.Join(c.Data, "damaged")); err != nil {
		return err
	}
	if err := r.format(); err != nil {
		return err
	}
	unlock, err := lockData(c.Data)
	if err != nil {
		return err
	}
	defer unlock()
	for _, repair := range []func() error{r.kafka, r.hbase, r.search} {
		if err := repair(); err != nil {
			return fmt.Errorf("--repair: %w", err)
		}
	}
	if err := r.readAgain(); err != nil {
		return fmt.Errorf("--repair: the offsets of the pipelines: %w", err)
	}
	if !r.damaged {
		fmt.Fprintf(e.stdout, "Nothing in %s is damaged.\n", c.Data)
		return nil
	}
	fmt.Fprintf(e.stdout, "\nWhat was damaged is in %s: delete it when it is no longer needed.\n"+
		"brine dev --data %s goes on, and writes rows and documents that are lost again from Kafka's records.\n", r.aside, c.Data)
	return nil
}

// freeName returns the first of name-1, name-2, … that does not exist.
func freeName(name string) (string, error) {
	for n := 1; ; n++ {
		free := fmt.Sprintf("%s-%d", name, n)
		if _, err := os.Lstat(free); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				err = nil
			}
			return free, err
		}
	}
}

// devRepair is a repair at work.
type devRepair struct {
	env        *env
	dir, aside string
	damaged    bool
	again      []string // the ends of the names of groups that are to read everything again
}

// found prints a damage, what was saved, and what was not.
func (r *devRepair) found(damage error, saved string, lost []string) {
	r.damaged = true
	out := r.env.stdout
	fmt.Fprintf(out, "%v\n  saved: %s\n", damage, saved)
	for _, line := range lost {
		fmt.Fprintf(out, "  lost:  %s\n", line)
	}
	if len(lost) == 0 {
		fmt.Fprintln(out, "  lost:  nothing")
	}
}

// place makes room to set a folder aside.
func (r *devRepair) place(name string) (string, error) {
	return filepath.Join(r.aside, name), os.MkdirAll(r.aside, 0o700)
}

// drop removes the folder for what is set aside while it is empty.
func (r *devRepair) drop() { _ = os.Remove(r.aside) }

// format sets a mark aside that cannot be read.
func (r *devRepair) format() error {
	var exit *exitError
	err := checkFormat(r.dir)
	if !errors.As(err, &exit) || exit.code != exitDamaged {
		return err
	}
	to, errPlace := r.place("FORMAT")
	r.found(err, "all of the folder: it only says which brine wrote it", nil)
	return errors.Join(errPlace, os.Rename(filepath.Join(r.dir, "FORMAT"), to))
}

func (r *devRepair) kafka() error {
	to, err := r.place("kafka")
	if err != nil {
		return err
	}
	defer r.drop()
	is, err := brokers.Repair(filepath.Join(r.dir, "kafka"), to)
	if err == nil && is.Damage != nil {
		r.found(is.Damage, thousands(is.Records)+" records; all groups begin at the start of their topics", is.Lost)
	}
	return err
}

func (r *devRepair) hbase() error {
	to, err := r.place("hbase")
	if err != nil {
		return err
	}
	defer r.drop()
	is, err := embedded.Repair(filepath.Join(r.dir, "hbase"), to)
	if err == nil && is.Damage != nil {
		r.found(is.Damage, fmt.Sprintf("%s rows, %s cells", thousands(int64(is.Rows)), thousands(int64(is.Cells))), is.Lost)
		r.again = append(r.again, ".rows")
	}
	return err
}

func (r *devRepair) search() error {
	to, err := r.place("search")
	if err != nil {
		return err
	}
	defer r.drop()
	moved, err := bleve.Repair(filepath.Join(r.dir, "search"), to)
	for _, is := range moved {
		r.found(is.Err, "the other indexes", []string{"the documents of index " + is.Index})
		r.again = append(r.again, ".documents")
	}
	return err
}

// readAgain has the groups that feed what was damaged read their topics from the start: they forget what they have committed.
func (r *devRepair) readAgain() error {
	if len(r.again) == 0 {
		return nil
	}
	broker, err := startKafka(0, filepath.Join(r.dir, "kafka"))
	if err != nil {
		return err
	}
	defer broker.Close()
	client := &kafka.Client{Addr: kafka.TCP(broker.ListenAddrs()[0])}
	return r.forget(r.env.ctx, client)
}

func (r *devRepair) forget(ctx context.Context, client *kafka.Client) error {
	groups, err := client.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return err
	}
	var names []string
	for _, g := range groups.Groups {
		for _, end := range r.again {
			if strings.HasSuffix(g.GroupID, end) {
				names = append(names, g.GroupID)
				break
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	answer, err := client.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: names})
	if err != nil {
		return err
	}
	var errs []error
	for name, err := range answer.Errors {
		if err != nil {
			errs = append(errs, fmt.Errorf("group %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
