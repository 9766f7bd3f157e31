// Package operations implements the operators' API: it shows and changes pipelines and their stores as the commands do. The service behind
// it runs pipelines (brine dev) or only has their stores open (brine serve).
//
//	pipelines.go    pipelines with their halves and partitions: this process's own state, and the brokers' view of all
//	tables.go       tables with their regions, skew and heat map; the configuration
//	offsets.go      positions of groups in their topics, and moving them
//	deadletters.go  records that could not be written
//	control.go      orders for running pipelines
//	jobs*.go        long-running work: each kind of job does what the command does
//	rates.go        how fast a number grows between two requests
//
// The invariant: Operations reaches nothing but what the configuration names. It learns about other members of a group from the brokers,
// and never connects to them.
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

// Operations are the operations on one service. Close stops them.
type Operations struct {
	service *service.Service
	cfg     func() *config.Config // the current configuration, which may be reloaded
	brokers *offsets.Client
	log     *slog.Logger
	now     func() time.Time
	hold    time.Duration // how long a broker answer about a group is cached; longer while it does not change

	asking sync.Mutex // held during broker requests about groups
	groups map[string]asked
	silent asked // the last request that the brokers did not answer

	control  *service.Control
	reading  sync.Mutex // held while orders are read
	readAt   time.Time
	readHold time.Duration // how long the orders are cached
	askedOf  map[string]service.Asked
	askedErr error

	jobs  *jobs.Jobs // nil without accounts, and before Open
	rates rates

	loading sync.Mutex // held while the loads of regions are fetched from the cluster
	loaded  time.Time
}

// New returns the operations on a service, which must stay open until Close.
func New(s *service.Service, log *slog.Logger) *Operations {
	return &Operations{service: s, cfg: s.Config, brokers: brokers.Open(&s.Config().Kafka), log: log, now: time.Now,
		hold: time.Second, groups: map[string]asked{}, control: s.Control()}
}

// Close stops running work; jobs end as interrupted.
func (o *Operations) Close() {
	if o.jobs != nil {
		o.jobs.Close()
	}
	o.brokers.Close()
}

// pipeline returns the named pipeline.
func (o *Operations) pipeline(name string) (*config.Pipeline, error) {
	if p := o.cfg().Pipeline(name); p != nil {
		return p, nil
	}
	return nil, missing("the configuration has no pipeline %q", name)
}

func missing(format string, args ...any) error {
	return fault.New(fault.Missing, fmt.Errorf(format, args...), "")
}
