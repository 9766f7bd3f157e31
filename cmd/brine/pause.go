package main

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"strconv"

	"brine/service"
	"brine/service/admin"
)

// askFlags are the flags of commands that control a running pipeline.
type askFlags struct {
	configFlag
	timeoutFlag
	tokenFlag
	Pipeline string `arg:"" help:"Name of the pipeline."`
	Half     string `placeholder:"rows|documents" enum:",rows,documents" default:"" help:"Half of the pipeline: rows or documents (default: both)."`
	HTTP     string `name:"http" placeholder:"HOST:PORT" help:"Admin port of any brine that runs the pipeline (default: http.listen of the configuration)."`
	JSON     bool   `help:"Print JSON."`
}

// ask sends the request, and prints the state that the halves have been asked for.
func (f *askFlags) ask(e *env, what string, more url.Values) error {
	client, err := adminClient(e, f.configFlag, f.HTTP, f.tokenFlag)
	if err != nil {
		return err
	}
	query := url.Values{"half": {f.Half}, "by": {asker()}}
	for name, values := range more {
		query[name] = values
	}
	var asked []service.Asked
	path := service.ControlPath + url.PathEscape(f.Pipeline) + "/" + what + "?" + query.Encode()
	if err := client.Call(e.ctx, http.MethodPost, path, &asked); err != nil {
		return askError(err)
	}
	return service.PrintAsked(e.stdout, asked, f.JSON)
}

// askError is adminError for control requests. It returns the running brine's own message without adding to it.
func askError(err error) error {
	status, ok := errors.AsType[*admin.StatusError](err)
	if !ok {
		return adminError(err)
	}
	switch status.Status {
	case http.StatusBadRequest, http.StatusNotFound:
		return usage(errors.New(status.Why))
	case http.StatusConflict, http.StatusInternalServerError:
		return &exitError{exitFailed, errors.New(status.Why), ""}
	case http.StatusServiceUnavailable:
		return &exitError{exitUnreachable, errors.New(status.Why), ""}
	}
	return adminError(err)
}

// asker returns the name of the user who runs the command.
func asker() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

type pauseCmd struct{ askFlags }

// Help returns the detailed help of the command.
func (pauseCmd) Help() string {
	return `All members of the pipeline's groups stop reading records within seconds, settle and commit what they have begun, and keep their
partitions. The pause survives restarts, until brine resume. Unread records stay in the topic for as long as its retention lasts.

Examples:
  brine pause orders -c brine.yaml
  brine pause orders --half documents --http 127.0.0.1:8765`
}

func (c *pauseCmd) Run(e *env) error { return c.ask(e, service.Pause, nil) }

type resumeCmd struct{ askFlags }

// Help returns the detailed help of the command.
func (resumeCmd) Help() string {
	return `The rate of each process begins at 1,000 records a second and doubles every second, so that the stores are not hit at once.

Examples:
  brine resume orders -c brine.yaml`
}

func (c *resumeCmd) Run(e *env) error { return c.ask(e, service.Resume, nil) }

type limitCmd struct {
	askFlags
	Rate float64 `arg:"" help:"Records per second of the whole group; 0 removes the limit."`
}

// Help returns the detailed help of the command.
func (limitCmd) Help() string {
	return `The limit applies to the whole group of each half: each member gets a share in proportion to its partitions. It survives restarts.
pipelines.*.read.rate applies in addition, to each process.

Examples:
  brine limit orders 5000 -c brine.yaml
  brine limit orders 500 --half documents
  brine limit orders 0`
}

func (c *limitCmd) Run(e *env) error {
	return c.ask(e, service.Limit, url.Values{"limit": {strconv.FormatFloat(c.Rate, 'g', -1, 64)}})
}
