// Package operations is what the operators' API shows of pipelines and their stores, and does about them: what the commands say and do, of
// a service that runs pipelines (brine dev) or has only their stores open (brine serve).
//
//	pipelines.go    pipelines with their halves and partitions: what this process knows of its own, and the brokers of all
//	tables.go       tables with their regions, their skew and its map; the configuration
//	offsets.go      where groups are in their topics, and moved to
//	deadletters.go  records that could not be written
//	control.go      what is asked of pipelines that run
//	jobs*.go        what takes long: what each kind of job does is what the command does
//	rates.go        how fast a number grows, from one question to the next
//
// The invariant: nothing is reached but what the configuration names. Other members of a group are known from the brokers; none is dialled.
package operations

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"brine/config"
	"brine/ingest/offsets"
	"brine/internal/fault"
	"brine/service"
	"brine/service/brokers"
	"brine/service/jobs"
)

// Operations are the operations on one service. Close ends them.
type Operations struct {
	service *service.Service
	cfg     func() *config.Config // as it is now: it may be loaded again
	brokers *offsets.Client
	log     *slog.Logger
	now     func() time.Time
	hold    time.Duration // what the brokers say of a group holds so long, however many ask

	asking sync.Mutex // held while the brokers are asked about groups
	groups map[string]asked
	silent asked // what the brokers did not answer last

	control  *service.Control
	reading  sync.Mutex // held while it is asked
	readAt   time.Time
	askedOf  map[string]service.Asked
	askedErr error

	jobs  *jobs.Jobs // nil without accounts, and before Open
	rates rates

	loading sync.Mutex // held while the cluster is asked for the loads of regions
	loaded  time.Time
}

// New returns the operations on a service, which has to stay open until Close.
func New(s *service.Service, log *slog.Logger) *Operations {
	return &Operations{service: s, cfg: s.Config, brokers: brokers.Open(&s.Config().Kafka), log: log, now: time.Now,
		hold: time.Second, groups: map[string]asked{}, control: s.Control()}
}

// Close ends what goes on: jobs as interrupted.
func (o *Operations) Close() {
	if o.jobs != nil {
		o.jobs.Close()
	}
	o.brokers.Close()
}

// pipeline finds a pipeline by its name.
func (o *Operations) pipeline(name string) (*config.Pipeline, error) {
	if p := o.cfg().Pipeline(name); p != nil {
		return p, nil
	}
	return nil, missing("the configuration has no pipeline %q", name)
}

func missing(format string, args ...any) error {
	return fault.New(fault.Missing, fmt.Errorf(format, args...), "")
}
