package main

import (
	"encoding/json"
	"errors"

	"brine/schema"
)

type tablesApplyCmd struct {
	configFlag
	timeoutFlag
	Yes                bool `short:"y" help:"Do not ask for confirmation."`
	DryRun             bool `help:"Show what would be done, and exit."`
	AllowShorterTTL    bool `name:"allow-shorter-ttl" help:"Allow a shortened ttl to delete older cells."`
	AllowFewerVersions bool `help:"Allow lowered versions or min_versions to delete versions of cells."`
	JSON               bool `help:"Print JSON."`
}

// Help returns the detailed help of the command.
func (tablesApplyCmd) Help() string {
	return `Shows what differs, and asks before it alters an existing table. It does not ask before it creates one, nor before changes to
indexes, since those lose nothing. Attributes that the configuration does not set, families that it does not name,
and the regions of existing tables are left alone. Nothing is ever dropped or truncated. A change that would keep cells or versions for
less time requires the flag that allows it. If HBase or the search engine does not answer, what the other one holds is still made.

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
	return planChanges(e, cfg, func(stores schema.Stores, changes *schema.Changes) error {
		if c.DryRun {
			return c.show(e, changes)
		}
		if err := c.confirm(e, changes); err != nil {
			return err
		}
		err := changes.Apply(e.ctx, stores)
		if err != nil && !changes.Done() {
			return err
		}
		return errors.Join(c.show(e, changes), err)
	})
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
