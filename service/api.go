package service

import (
	"context"
	"errors"
	"strconv"

	"brine/account"
	"brine/account/oidc"
	"brine/internal/fault"
	"brine/metrics"
	"brine/serve"
	"brine/service/admin"
	"brine/service/stores"
	"brine/tracing"
)

// Accounts opens the account store once, and returns nil if the configuration has no accounts. The service closes the store.
func (s *Service) Accounts(ctx context.Context) (*account.Store, error) {
	if !s.Config().HasAccounts() || s.accounts != nil {
		return s.accounts, nil
	}
	o := s.Config().AccountOptions()
	o.Log = s.log
	var err error
	if s.accounts, err = account.Open(ctx, o); errors.Is(err, account.ErrDamaged) {
		err = stores.DamagedAccounts(err)
	}
	return s.accounts, err
}

// API opens the HTTP API over the service's stores. The caller runs the server, and closes it before the service. API must be called only
// once.
func (s *Service) API(ctx context.Context) (*serve.Server, error) {
	o, err := s.api(ctx)
	if err != nil {
		return nil, err
	}
	if o.Commands, err = s.commands(ctx); err != nil {
		return nil, err
	}
	o.Console = s.opts.Users
	l, err := admin.ListenTLS(o.Listen, "serve.listen", "serve.tls", s.Config().Serve.TLS.Port(), s.log)
	if err != nil {
		return nil, err
	}
	api, err := serve.New(l, o)
	if err != nil {
		_ = l.Close() // nothing was accepted
	}
	return api, err
}

// Operations are what operators can see and do. Open starts the parts that need accounts, and Close stops background work.
type Operations interface {
	serve.Operations
	Open(ctx context.Context) error
	Close()
}

// OpsAPI opens the operators' listener, as API opens the users'. The service closes operations before its stores.
func (s *Service) OpsAPI(ctx context.Context, operations Operations) (*serve.Server, error) {
	s.operations = operations
	o, err := s.api(ctx)
	if err != nil {
		return nil, err
	}
	if err := operations.Open(ctx); err != nil {
		return nil, err
	}
	o.Hooks, o.Listen, o.Operations = serve.Hooks{}, s.Config().Serve.Ops.Listen, operations
	o.Console = s.opts.Operators
	l, err := admin.ListenTLS(o.Listen, "serve.ops.listen", "serve.tls", s.Config().Serve.TLS.Port(), s.log)
	if err != nil {
		return nil, err
	}
	api, err := serve.NewOps(l, o)
	if err != nil {
		_ = l.Close() // nothing was accepted
	}
	return api, err
}

// api returns the options of an API over the service's stores.
func (s *Service) api(ctx context.Context) (serve.Options, error) {
	o, err := s.Config().API()
	if err != nil {
		return o, fault.Misused(err)
	}
	if s.hbase == nil {
		return o, fault.Misused(errors.New("no pipeline writes rows, so there is nothing to serve"))
	}
	if o.Accounts, err = s.Accounts(ctx); err != nil {
		return o, err
	}
	if company, ok := s.Config().Company(); ok && s.company == nil {
		s.company = oidc.New(company)
	}
	o.Company = s.company
	o.Rows, o.Version, o.Log = s.hbase.Client, s.opts.Version, s.log
	if s.serving == nil {
		s.serving = metrics.NewServe(s.registry)
	}
	o.Hooks, o.Written, o.Alone = s.serving.Hooks(), s.written, s.alone
	if s.engine != nil {
		o.Docs = tracing.Searcher(s.engine)
	}
	if s.tracer == nil {
		if err := s.openTracing(); err != nil {
			return o, err
		}
	}
	o.Question = s.question
	return o, nil
}

// alone returns a string that changes with the terms since which this process has been the only writer of a table, according to the
// consumer groups of its pipelines. It returns "" if other processes may write to the table, or if nobody does.
func (s *Service) alone(table string) string {
	var since []byte
	for _, p := range s.Config().Pipelines {
		if !p.Writes(table) {
			continue
		}
		h := s.Pipeline(p.Name).Rows()
		if h == nil || h.loop == nil {
			return ""
		}
		term := h.loop.Alone()
		if term == 0 {
			return ""
		}
		since = strconv.AppendUint(append(since, ' '), term, 10)
	}
	return string(since)
}

// question starts a span for a question as part of the client's trace, if that trace is sampled and spans are exported.
func (s *Service) question(ctx context.Context, traceparent, name string) (context.Context, func(error)) {
	if s.tracer == nil || !tracing.Sampled(traceparent) {
		return ctx, func(error) {}
	}
	return s.tracer.Question(ctx, traceparent, name)
}
