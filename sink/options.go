package sink

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"brine/event"
)

// Options configures a sink.
type Options struct {
	Schema event.Schema
	Rows   []Rows
	Hooks  Hooks

	MaxCellBytes int              // [hbase.client.keyvalue.maxsize] a larger cell is rejected; default 10 MiB
	Now          func() time.Time // the clock for TTLs and for the bound on refusals; default time.Now
}

// EnsureDefaults sets zero fields to their defaults. New calls it.
func (o *Options) EnsureDefaults() {
	o.MaxCellBytes = cmp.Or(o.MaxCellBytes, 10<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Hooks.ensureDefaults()
}

// Validate reports every fault of the options themselves. It does not check that Rows fit Schema, which New does. It expects EnsureDefaults
// to have run.
func (o *Options) Validate() error {
	var errs []error
	if err := o.Schema.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("sink: Options.Schema: %w", err))
	}
	if len(o.Rows) == 0 {
		errs = append(errs, errors.New("sink: Options.Rows is empty; name a table"))
	}
	if o.MaxCellBytes < 1 {
		errs = append(errs, fmt.Errorf("sink: Options.MaxCellBytes is %d; it must be at least 1", o.MaxCellBytes))
	}
	return errors.Join(errs...)
}
