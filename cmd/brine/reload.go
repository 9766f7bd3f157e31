package main

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"brine/config"
	"brine/internal/fault"
	"brine/service"
	"brine/service/reload"
)

type reloadCmd struct {
	configFlag
	tokenFlag
	Timeout time.Duration `default:"5m" help:"How long to wait for the result (default 5m); the reload itself continues."`
	HTTP    string        `name:"http" placeholder:"HOST:PORT" help:"Admin port of a running brine (default: http.listen of the configuration)."`
	DryRun  bool          `help:"Show what would be done, and exit."`
	JSON    bool          `help:"Print JSON."`
}

// Help returns the detailed help of the command.
func (reloadCmd) Help() string {
	return `The running brine rereads the file that it was started with, checks all of it, also against its servers, and reports which
pipelines start, stop, change and stay. A pipeline that changes settles, commits and continues from there; the others are not affected.
If a change is wrong or requires a restart, nothing is applied and everything continues as before. SIGHUP does the same, and so does
brine run --watch when the file changes. Each process is reloaded separately. docs/live.md lists the effect of each setting.

Examples:
  brine reload --dry-run -c brine.yaml
  brine reload -c brine.yaml
  brine reload --http unix:/run/brine/admin.sock --json`
}

func (c *reloadCmd) Run(e *env) error {
	client, err := adminClient(e, c.configFlag, c.HTTP, c.tokenFlag)
	if err != nil {
		return err
	}
	client.Timeout = c.Timeout
	query := url.Values{"by": {asker()}}
	if c.DryRun {
		query.Set("preview", "1")
	}
	var result reload.Result
	if err := client.Call(e.ctx, http.MethodPost, service.ReloadPath+"?"+query.Encode(), &result); err != nil {
		return askError(err)
	}
	if err := result.Print(e.stdout, c.JSON); err != nil || result.Outcome != reload.Refused {
		return err
	}
	return fault.New(result.Kind, errors.New("refused: "+result.Error), result.Fix)
}

// source returns a function that loads again the configuration that the command was started with.
func (c *runCmd) source(e *env) func() (*config.Config, config.Problems, error) {
	return func() (*config.Config, config.Problems, error) {
		cfg, problems := config.Load(c.Config, e.getenv)
		if err := problems.Err(); err != nil {
			return nil, problems, err
		}
		if c.Unmask {
			cfg.Unmask()
		}
		cfg, err := somePipelines(cfg, c.Pipeline)
		return cfg, problems, err
	}
}

// watched returns the configuration file to watch, or nil without --watch.
func (c *runCmd) watched() *service.WatchedFile {
	if !c.Watch {
		return nil
	}
	return service.WatchFile(c.Config)
}

// hangups returns a channel that receives SIGHUPs from now on.
func hangups() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 1) // one besides the one being handled; more would ask for the same
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}
