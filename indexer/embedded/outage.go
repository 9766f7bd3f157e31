package embedded

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// outage is what is known of an index whose folder cannot be written. Bleve tries again at once, and reports only to a function that has a
// name in the whole process.
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
	writeAgain     = 200 * time.Millisecond // after something could not be written
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

// failed notes an error, and holds up Bleve's goroutine that met it.
func (o *outage) failed(err error) {
	o.last.Store(&failure{err, time.Now()})
	time.Sleep(writeAgain)
}

// cause is why the folder cannot be written, nil when nothing has failed for a while.
func (o *outage) cause() error {
	if f := o.last.Load(); f != nil && time.Since(f.at) < outageOver {
		return f.err
	}
	return nil
}

// Broken returns why documents do not get to the disk, nil while they do. What is written meanwhile waits, and gets there when it can.
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
