package embedded

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// outage records that the folder of an index cannot be written. Bleve retries immediately, and reports errors only to a function that is
// registered by name for the whole process.
type outage struct {
	dir  string
	last atomic.Pointer[failure]
}

type failure struct {
	err error
	at  time.Time
}

const (
	outageCallback = "brine"
	writeAgain     = 200 * time.Millisecond // after a failed write
	outageOver     = 25 * writeAgain        // without another failure
)

var outages sync.Map // folder (string) → *outage

func init() {
	scorch.RegistryAsyncErrorCallbacks[outageCallback] = func(err error, dir string) {
		if o, ok := outages.Load(dir); ok {
			o.(*outage).failed(err)
		}
	}
}

// watchFolder watches an index's folder until end.
func watchFolder(dir string) *outage {
	o := &outage{dir: dir}
	outages.Store(dir, o)
	return o
}

func (o *outage) end() { outages.CompareAndDelete(o.dir, o) }

// failed records an error, and delays the goroutine of Bleve that met it.
func (o *outage) failed(err error) {
	o.last.Store(&failure{err, time.Now()})
	time.Sleep(writeAgain)
}

// cause returns the reason that the folder cannot be written, or nil if nothing has failed for a while.
func (o *outage) cause() error {
	if f := o.last.Load(); f != nil && time.Since(f.at) < outageOver {
		return f.err
	}
	return nil
}

// Broken returns the reason that documents do not reach the disk, or nil if they do. What is written meanwhile waits, and reaches the disk
// when that is possible.
func (e *Engine) Broken() error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var errs []error
	for name, s := range e.indexes {
		if s == nil {
			continue
		}
		if err := s.outage.cause(); err != nil {
			errs = append(errs, fmt.Errorf("index %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
