package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/account"
	"brine/config"
	"brine/serve"
	"brine/service"
	"brine/service/brokers"
	"brine/service/devstack"
)

// Stack is the other process: the API and its pipelines, and on the embedded stack the servers. It prints the addresses of the API, the
// admin port, Kafka, HBase, and of the same API with accounts, whose audit has each statement of SQL, and the token of an operator; and it
// ends with its standard input.
type Stack struct {
	Kind string `arg:"" enum:"embedded,real" help:"Servers to start: embedded or real."`
	Dir  string `arg:"" help:"Folder of the embedded servers' data."`
}

// Run serves.
func (c *Stack) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	var getenv func(string) (string, bool)
	opts := service.Options{For: service.ToRun, Log: log, Version: "bench"}
	var prepare func(context.Context, *config.Config) error
	if c.Kind == "embedded" {
		embedded, err := devstack.Start(devstack.Options{Dir: c.Dir, Log: log})
		if err != nil {
			return err
		}
		defer embedded.Close()
		opts.Servers, prepare = embedded.Servers(), embedded.Prepare
		getenv = under(embedded.Getenv)
	} else {
		env, err := realServers()
		if err != nil {
			return err
		}
		getenv = under(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		prepare = func(ctx context.Context, cfg *config.Config) error {
			client := brokers.Open(&cfg.Kafka)
			defer client.Close()
			return errors.Join(devstack.CreateTopics(ctx, cfg, client), devstack.CreateMissing(ctx, cfg, log))
		}
	}
	cfg, problems := config.Load(configuration, getenv)
	if err := problems.Err(); err != nil {
		return err
	}
	if err := prepare(ctx, cfg); err != nil {
		return err
	}
	s, err := service.Open(ctx, cfg, opts)
	if err != nil {
		return err
	}
	defer s.Close()
	api, err := s.API(ctx)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.Go(func() error { return api.Run(ctx) })
	g.Go(func() error { return s.Run(ctx) })
	audited, token, closeAudited, err := c.audited(ctx, cfg, s)
	if err != nil {
		return err
	}
	defer closeAudited()
	g.Go(func() error { return audited.Run(ctx) })
	kafka, _ := getenv("BRINE_KAFKA_BROKERS")
	connect, _ := getenv("BRINE_HBASE_CONNECT")
	fmt.Println(api.URL(), "http://"+s.Addr(), kafka, connect, audited.URL(), token)
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	return g.Wait()
}

// audited opens the API over the same stores with accounts, in its own database, and returns the token of its only operator.
func (c *Stack) audited(ctx context.Context, cfg *config.Config, s *service.Service) (api *serve.Server, token string, end func(),
	err error) {
	accounts, err := account.Open(ctx, account.Options{Connect: "embedded:" + c.Dir + "-accounts"})
	if err != nil {
		return nil, "", nil, err
	}
	fail := func(err error) (*serve.Server, string, func(), error) {
		return nil, "", nil, errors.Join(err, accounts.Close())
	}
	operator, err := accounts.Add(ctx, "operator", "", account.Operator, rand.Text())
	if err != nil {
		return fail(err)
	}
	if token, _, err = accounts.NewToken(ctx, operator, "bench", account.Operator, time.Now().Add(24*time.Hour)); err != nil {
		return fail(err)
	}
	o, err := cfg.API()
	if err != nil {
		return fail(err)
	}
	o.Accounts, o.Rows, o.Listen = accounts, s.Client(), "127.0.0.1:0"
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fail(err)
	}
	if api, err = serve.New(l, o); err != nil {
		return fail(errors.Join(err, l.Close()))
	}
	return api, token, func() { _ = accounts.Close() }, nil // the process ends
}

// under overrides settings of the process's environment; there are no accounts.
func under(over func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if strings.HasPrefix(name, "BRINE_ACCOUNTS") {
			return "", false
		}
		if v, ok := over(name); ok {
			return v, true
		}
		return os.LookupEnv(name)
	}
}

// realServers returns the settings with the addresses of the servers of DEVCLUSTER_RUN.
func realServers() (map[string]string, error) {
	text, err := os.ReadFile(os.Getenv("DEVCLUSTER_RUN") + "/env")
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		at[name] = strings.Trim(value, `"'`)
	}
	out := map[string]string{"BRINE_HTTP_LISTEN": "127.0.0.1:0", "BRINE_SERVE_LISTEN": "127.0.0.1:0", "BRINE_SEARCH_REPLICAS": "0"}
	for setting, name := range map[string]string{"BRINE_KAFKA_BROKERS": "BRINE_REAL_KAFKA", "BRINE_HBASE_CONNECT": "BRINE_REAL_HBASE",
		"BRINE_SEARCH_CONNECT": "BRINE_REAL_ELASTICSEARCH"} {
		if out[setting] = at[name]; out[setting] == "" {
			return nil, fmt.Errorf("%s/env does not set %s: start kafka, hbase and elasticsearch", os.Getenv("DEVCLUSTER_RUN"), name)
		}
	}
	return out, nil
}
