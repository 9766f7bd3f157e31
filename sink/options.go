package sink

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"brine/event"
)

// Options configure a sink.
type Options struct {
	Schema event.Schema
	Rows   []Rows
	Hooks  Hooks

	MaxCellBytes int              // [hbase.client.keyvalue.maxsize] a larger cell is rejected; default 10 MiB
	Now          func() time.Time // the clock that TTLs and the bound on refusals are held against; default time.Now
}

// EnsureDefaults sets what is zero to its default. New calls it.
func (o *Options) EnsureDefaults() {
	o.MaxCellBytes = cmp.Or(o.MaxCellBytes, 10<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Hooks.ensureDefaults()
}

// Validate reports every fault of the options themselves. Whether Rows fit Schema is found while New compiles them. It expects
// EnsureDefaults to have run.
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
