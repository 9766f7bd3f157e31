package main

import (
	"encoding/json"

	"brine/config"
	"brine/hbase"
	"brine/internal/term"
	"brine/schema"
	"brine/service/brokers"
	"brine/service/stores"
)

type checkCmd struct {
	timeoutFlag
	Paths   []string `arg:"" optional:"" name:"file" help:"Configuration files, or folders of them (default brine.yaml)."`
	Config  []string `short:"c" sep:"none" placeholder:"FILE" help:"Configuration file, given as in other commands; may be repeated."`
	Connect bool     `help:"Also check the topics, tables and recent records on the servers."`
	JSON    bool     `help:"Print JSON."`
}

// Help returns the detailed help of the command.
func (checkCmd) Help() string {
	return `Every mistake is reported at once, with file, line, column and the fix. Nothing is changed anywhere.
With --connect, brine also checks that the schema registry grants access, that the topics exist, that the tables match the
configuration and that every server has something to write. It also says what would become of the latest records: which would be dead
letters, which would collide, and which a TTL would hide as soon as they are written.

Examples:
  brine check examples/scans.yaml
  brine check --connect examples/scans.yaml`
}

func (c *checkCmd) Run(e *env) error {
	paths := append(c.Paths, c.Config...)
	if len(paths) == 0 {
		paths = []string{defaultConfig}
	}
	files, err := config.Files(paths)
	if err != nil {
		return usage(err)
	}
	all := append(config.Problems{}, config.UnknownEnv(e.environ)...) // so that JSON has [] instead of null
	code := exitOK
	for _, file := range files {
		cfg, problems := config.Load(file, e.getenv)
		switch {
		case problems.Err() != nil:
			code = exitUsage
		case c.Connect:
			within(e, cfg)
			found, err := checkServers(e, cfg, file)
			if err != nil {
				return err
			}
			problems = append(problems, found...)
			if found.Err() != nil {
				code = max(code, exitMissing)
			}
		}
		all = append(all, problems...)
		if !c.JSON && problems.Err() == nil {
			term.Println(e.stdout, "%s: good", file)
		}
	}
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(all); err != nil {
			return err
		}
		all = nil
	}
	for _, p := range all {
		term.Println(e.stderr, "%v", p)
	}
	if code != exitOK {
		return errReported{code}
	}
	return nil
}

// checkServers checks a configuration against its servers.
func checkServers(e *env, cfg *config.Config, file string) (config.Problems, error) {
	servers := schema.Servers{Topics: brokers.Topics{Config: cfg}}
	if schemas, err := stores.OpenRegistry(cfg); err != nil {
		return nil, err
	} else if schemas != nil {
		defer schemas.Close()
		servers.Registry = schemas
	}
	opts := cfg.HBase()
	opts.Hooks.Untested = func(i hbase.UntestedInfo) { servers.Untested = stores.Untested(i.Version) }
	cluster, err := openHBase(e, cfg, opts)
	if err != nil {
		return nil, err
	}
	var close func()
	if servers.Stores, close, err = withSearch(cfg, cluster); err != nil {
		return nil, err
	}
	defer close()
	return schema.Check(e.ctx, cfg, file, servers)
}
