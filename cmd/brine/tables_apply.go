package main

import (
	"encoding/json"
	"errors"

	"brine/schema"
)

type tablesApplyCmd struct {
	configFlag
	timeoutFlag
	Yes                bool `short:"y" help:"Do not ask for confirmation before altering existing tables."`
	DryRun             bool `help:"Show what would be done, and exit."`
	AllowShorterTTL    bool `name:"allow-shorter-ttl" help:"Allow a shortened ttl to delete older cells."`
	AllowFewerVersions bool `help:"Allow lowered versions or min_versions to delete versions of cells."`
	JSON               bool `help:"Print JSON."`
}

// Help returns the detailed help of the command.
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
	stores, close, err := openStores(e, cfg)
	if err != nil {
		return err
	}
	defer close()
	changes, err := schema.Plan(e.ctx, cfg, stores)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.show(e, changes)
	}
	if err := c.confirm(e, changes); err != nil {
		return err
	}
	if err = changes.Apply(e.ctx, stores); err != nil && !changes.Done() {
		return err
	}
	return errors.Join(c.show(e, changes), err)
}

func (c *tablesApplyCmd) show(e *env, changes *schema.Changes) error {
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(map[string]any{"tables": changes.Tables, "indexes": changes.Indexes})
	}
	printChanges(e.stdout, changes)
	return nil
}

// confirm shows the pending alterations, refuses those that would lose cells unless flags allow it, and asks. It prints to stderr, because
// stdout reports what was done.
func (c *tablesApplyCmd) confirm(e *env, changes *schema.Changes) error {
	altered := changes.Altered()
	if len(altered) == 0 {
		return nil
	}
	printTables(e.stderr, altered)
	var allowed []string
	if c.AllowShorterTTL {
		allowed = append(allowed, schema.AllowShorterTTL)
	}
	if c.AllowFewerVersions {
		allowed = append(allowed, schema.AllowFewerVersions)
	}
	if err := changes.Losses(allowed...); err != nil {
		return usage(err)
	}
	return confirm(e, c.Yes, "Alter?")
}
