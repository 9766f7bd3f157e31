package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/account"
	"brine/hbase/embedded"
	bleve "brine/indexer/embedded"
	"brine/ingest"
	brokers "brine/ingest/embedded"
	"brine/ingest/offsets"
	"brine/internal/fault"
	"brine/internal/term"
)

// Finding is one damage, what was saved, and what was lost.
type Finding struct {
	Damage error // names the file
	Saved  string
	Lost   []string // nil: nothing
}

// Repair saves what it can of a data folder that Start refuses as damaged, and calls found for each damage. It moves what was damaged to a
// new folder inside dir, and returns that folder, or "" if nothing is damaged. The groups that feed what lost rows or documents will read
// their topics from the start. A folder of an embedded HBase alone is moved as a whole to a sibling folder. Repair does not create what is
// missing.
func Repair(ctx context.Context, dir string, log *slog.Logger, found func(Finding)) (aside string, err error) {
	r := repair{dir: dir, log: log, found: found}
	switch {
	case embedded.IsFolder(dir):
		return r.alone()
	case !slices.ContainsFunc([]string{"FORMAT", "kafka", "hbase", "search", "accounts"}, r.has):
		return "", fault.Misused(fmt.Errorf("--data: %s is not a folder of brine dev or an embedded HBase", dir))
	}
	if r.aside, err = freeName(filepath.Join(dir, "damaged")); err != nil {
		return "", err
	}
	if err := r.format(); err != nil {
		return "", err
	}
	unlock, err := lock(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	for _, repair := range []func() error{r.kafka, r.hbase, r.search, func() error { return r.accounts(ctx) }} {
		if err := repair(); err != nil {
			return "", fmt.Errorf("--repair: %w", err)
		}
	}
	if err := r.readAgain(ctx); err != nil {
		return "", fmt.Errorf("--repair: the offsets of the pipelines: %w", err)
	}
	if !r.damaged {
		return "", nil
	}
	return r.aside, nil
}

// alone repairs the folder of an embedded HBase alone.
func (r *repair) alone() (aside string, err error) {
	if aside, err = freeName(filepath.Clean(r.dir) + ".damaged"); err != nil {
		return "", err
	}
	is, err := embedded.Repair(r.dir, aside)
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return "", fault.New(fault.Data, fmt.Errorf("--data: %w", err), "stop the process that uses it")
	case err != nil:
		return "", fmt.Errorf("--repair: %w", err)
	case is.Damage == nil:
		return "", nil
	}
	r.reportHBase(is)
	return aside, nil
}

// has reports whether the folder contains the named file or folder.
func (r *repair) has(name string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, name))
	return err == nil
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

// repair is the state of a running repair.
type repair struct {
	dir, aside string
	log        *slog.Logger
	found      func(Finding)
	damaged    bool
	again      []string // suffixes of the names of groups that must read everything again
}

func (r *repair) report(damage error, saved string, lost []string) {
	r.damaged = true
	r.found(Finding{damage, saved, lost})
}

// place creates the folder for damaged data, and returns the path for name in it.
func (r *repair) place(name string) (string, error) {
	return filepath.Join(r.aside, name), os.MkdirAll(r.aside, 0o700)
}

// drop removes the folder for damaged data if it is empty.
func (r *repair) drop() { _ = os.Remove(r.aside) }

// format moves an unreadable format mark to the folder for damaged data.
func (r *repair) format() error {
	err := checkFormat(r.dir)
	if is, ok := errors.AsType[*fault.Error](err); !ok || is.Kind != fault.Damaged {
		return err
	}
	to, errPlace := r.place("FORMAT")
	r.report(err, "all of the folder: the file only says which brine wrote it", nil)
	return errors.Join(errPlace, os.Rename(filepath.Join(r.dir, "FORMAT"), to))
}

func (r *repair) kafka() error {
	if !r.has("kafka") {
		return nil
	}
	to, err := r.place("kafka")
	if err != nil {
		return err
	}
	defer r.drop()
	is, err := brokers.Repair(filepath.Join(r.dir, "kafka"), to)
	if err == nil && is.Damage != nil {
		r.report(is.Damage, term.Thousands(is.Records)+" records; all groups start at the beginning of their topics", is.Lost)
	}
	return err
}

func (r *repair) hbase() error {
	if !r.has("hbase") {
		return nil
	}
	to, err := r.place("hbase")
	if err != nil {
		return err
	}
	defer r.drop()
	is, err := embedded.Repair(filepath.Join(r.dir, "hbase"), to)
	if err == nil && is.Damage != nil {
		r.reportHBase(is)
		r.again = append(r.again, ".rows")
	}
	return err
}

func (r *repair) reportHBase(is embedded.Repaired) {
	r.report(is.Damage, fmt.Sprintf("%s rows, %s cells", term.Thousands(int64(is.Rows)), term.Thousands(int64(is.Cells))), is.Lost)
}

func (r *repair) search() error {
	to, err := r.place("search")
	if err != nil {
		return err
	}
	defer r.drop()
	moved, err := bleve.Repair(filepath.Join(r.dir, "search"), to)
	for _, is := range moved {
		r.report(is.Err, "the other indexes", []string{"the documents of index " + is.Index})
		r.again = append(r.again, ".documents")
	}
	return err
}

// accounts moves damaged accounts to the folder for damaged data. Nothing is taken over from them, and nothing can restore them.
func (r *repair) accounts(ctx context.Context) error {
	to, err := r.place("accounts")
	if err != nil {
		return err
	}
	defer r.drop()
	is, err := account.Repair(ctx, filepath.Join(r.dir, "accounts"), to)
	switch {
	case errors.Is(err, account.ErrInUse):
		return fault.New(fault.Data, err, "stop the process that uses it")
	case err == nil && is != nil:
		lost := append(is.Lost, "nothing can restore these: put accounts.db from a backup into "+filepath.Join(r.dir, "accounts")+
			", or let brine dev create its own accounts")
		r.report(is.Err, "nothing: damaged data must not decide who may do what", lost)
	}
	return err
}

// readAgain deletes the commits of the groups that feed what was damaged, so that they read their topics from the start.
func (r *repair) readAgain(ctx context.Context) error {
	if len(r.again) == 0 || !r.has("kafka") {
		return nil
	}
	broker, err := startKafka(0, filepath.Join(r.dir, "kafka"), r.log)
	if err != nil {
		return err
	}
	defer broker.Close()
	client := offsets.Open(ingest.Kafka{Brokers: broker.ListenAddrs()[:1]}, requestTimeout)
	defer client.Close()
	groups, err := client.Groups(ctx)
	if err != nil {
		return err
	}
	fed := func(group string) bool {
		return slices.ContainsFunc(r.again, func(end string) bool { return strings.HasSuffix(group, end) })
	}
	return client.Forget(ctx, slices.DeleteFunc(groups, func(group string) bool { return !fed(group) })...)
}
