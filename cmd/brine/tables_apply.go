package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"brine/indexer"
)

type tablesApplyCmd struct {
	configFlag
	timeoutFlag
	Yes                bool `short:"y" help:"Do not ask before tables that exist are altered."`
	DryRun             bool `help:"Show what would be done, and do nothing."`
	AllowShorterTTL    bool `name:"allow-shorter-ttl" help:"Let cells vanish that are older than a ttl that is shortened."`
	AllowFewerVersions bool `help:"Let versions of cells vanish that are beyond versions or min_versions once those are lowered."`
	JSON               bool `help:"Print JSON."`
}

// Help is shown under the command's own help.
func (tablesApplyCmd) Help() string {
	return `Shows what differs, and asks before it alters a table that exists; creating one needs no answer, nor does
what is done to indexes: it loses nothing. Attributes that the configuration does not set, families that it does not name,
and the regions of tables that exist are left alone. Nothing is ever dropped or truncated. What would shorten how long cells
or versions are kept needs the flag that says so.

Examples:
  brine tables apply -c examples/scans.yaml
  brine tables apply -c examples/scans.yaml --dry-run
  brine tables apply -c examples/scans.yaml --yes --allow-shorter-ttl`
}

func (c *tablesApplyCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	cluster, err := openHBase(e.ctx, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	steps, err := planTables(e.ctx, cfg, cluster.client)
	if err != nil {
		return err
	}
	// Both stores are looked at before either is touched.
	indexes, err := withSearch(cfg, func(engine indexer.Engine) ([]indexStep, error) { return planIndexes(e.ctx, cfg, engine) })
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.show(e, steps, indexes)
	}
	if err := c.confirm(e, steps); err != nil {
		return err
	}
	if err := createTables(e.ctx, cluster.client, steps); err != nil {
		return err
	}
	if err := alterTables(e.ctx, cluster.client, steps); err != nil {
		return err
	}
	indexes, err = withSearch(cfg, func(engine indexer.Engine) ([]indexStep, error) {
		return indexes, applyIndexes(e.ctx, engine, indexes)
	})
	if err != nil {
		return err
	}
	return c.show(e, steps, indexes)
}

func (c *tablesApplyCmd) show(e *env, steps []tableStep, indexes []indexStep) error {
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(map[string]any{"tables": steps, "indexes": indexes})
	}
	printSteps(e.stdout, steps)
	printIndexSteps(e.stdout, indexes)
	return nil
}

// confirm shows what is to be altered, refuses what would lose cells without being allowed to, and asks. It is shown on
// standard error: standard output says what was done.
func (c *tablesApplyCmd) confirm(e *env, steps []tableStep) error {
	var altered []tableStep
	var lossy []error
	for _, s := range steps {
		if s.Action != "alter" {
			continue
		}
		altered = append(altered, s)
		for _, change := range s.Changes {
			if change.Allow != "" && !c.allows(change.Allow) {
				lossy = append(lossy, fmt.Errorf("table %s: %s; that would lose %s: nothing was changed; add %s", s.Table, change, change.Loses, change.Allow))
			}
		}
	}
	if len(altered) == 0 {
		return nil
	}
	printSteps(e.stderr, altered)
	if err := errors.Join(lossy...); err != nil {
		return usage(err)
	}
	return confirm(e, c.Yes, "Alter?")
}

func (c *tablesApplyCmd) allows(flag string) bool {
	return flag == "--allow-shorter-ttl" && c.AllowShorterTTL || flag == "--allow-fewer-versions" && c.AllowFewerVersions
}
