package operations

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"brine/hbase"
	"brine/internal/fault"
	"brine/mask"
	"brine/rowkey"
	"brine/schema/regions"
	"brine/serve/client"
	"brine/service/jobs"
)

// changed describes what was done to a region, or would be.
type changed struct {
	Table  string `json:"table"`
	Region string `json:"region"`       // encoded name, which identifies the region however the request named it
	Is     string `json:"is,omitempty"` // description of the region
	What   string `json:"what"`
	Done   bool   `json:"done"`
}

// splitRegion does the work of brine regions split.
func (o *Operations) splitRegion(of *client.RegionSplitJob) (jobs.Work, error) {
	if _, err := rowkey.ParseBinary(of.At); err != nil {
		return nil, misused("at: %v", err)
	}
	return o.onRegion(of.Table, of.Region, func(ctx context.Context, t *regions.Table, r hbase.Region, out *jobs.Output) error {
		at, err := t.SplitPoint(r, of.At)
		if err != nil {
			return fmt.Errorf("at: %w", err)
		}
		where := "in its middle"
		if hidden := o.masksKey(of.Table, nil); len(at) > 0 && !hidden {
			where = "at " + rowkey.Binary(at)
		} else if len(at) > 0 {
			where = "at the given row"
		}
		if of.DryRun {
			out.Result("region", changed{t.Name, r.Encoded, o.described(t, r), "split " + where, false})
			return nil
		}
		if err := o.service.Client().SplitRegion(ctx, r, at); err != nil {
			return err
		}
		out.Result("region", changed{t.Name, r.Encoded, "", "split " + where, true})
		return nil
	})
}

// moveRegion does the work of brine regions move.
func (o *Operations) moveRegion(of *client.RegionMoveJob) (jobs.Work, error) {
	return o.onRegion(of.Table, of.Region, func(ctx context.Context, t *regions.Table, r hbase.Region, out *jobs.Output) error {
		if of.To != "" && of.To == r.Server {
			return misused("to: the region is already on %s", of.To)
		}
		where := "another server"
		if of.To != "" {
			where = of.To
		}
		if of.DryRun {
			out.Result("region", changed{t.Name, r.Encoded, o.described(t, r), "move to " + where, false})
			return nil
		}
		server, err := t.Move(ctx, r, of.To)
		switch {
		case err != nil:
			return err
		case server == r.Server:
			return fault.New(fault.Failed, fmt.Errorf("region %s is still on %s", r.Encoded, r.Server),
				"the master chose the same server: if there is another one, name it with to")
		case server != "": // otherwise it was split or merged meanwhile
			where = server
		}
		out.Result("region", changed{t.Name, r.Encoded, "", "moved to " + where, true})
		return nil
	})
}

// encoded matches a region's name or a prefix of it. If no such region exists any more, the text is not taken for a row key.
var encoded = regexp.MustCompile(`^[0-9a-f]{4,32}$`)

// onRegion returns work that calls do with the selected region of a table. The region is looked up when the job starts, because it may be
// split before that.
func (o *Operations) onRegion(
	table, region string, do func(context.Context, *regions.Table, hbase.Region, *jobs.Output) error,
) (jobs.Work, error) {
	known, err := o.table(table)
	if err != nil {
		return nil, err
	}
	if region == "" {
		return nil, misused("region: give its name, a prefix of it, or a row key")
	}
	return func(ctx context.Context, out *jobs.Output) error {
		t, err := regions.Open(ctx, o.service.Client(), known.Name, known.RowKeys())
		if errors.Is(err, hbase.ErrNoTable) {
			return fault.New(fault.Missing, err, "brine tables apply creates the tables of the configuration")
		} else if err != nil {
			return err
		}
		masked := o.masksKey(table, nil)
		begins := func(r hbase.Region) bool { return strings.HasPrefix(r.Encoded, region) }
		if encoded.MatchString(region) && !slices.ContainsFunc(t.Regions, begins) {
			shown := mask.If(masked && len(region) < 32, region) // it may be a row key
			return fault.New(fault.Failed, fmt.Errorf("region %s of %s is gone: it was split or merged in the meantime", shown, t.Name),
				"check the advice again; write a row key that looks like a region's name as key:ROW")
		}
		r, err := t.Find(region)
		found := err == nil
		if found {
			err = do(ctx, t, r, out)
		}
		_, misnamed := errors.AsType[*regions.NameError](err)
		if masked && (misnamed || !found) { // the error names keys
			err = errors.New("the region is ambiguous, or the row is not in it")
		}
		if misnamed {
			return fault.New(fault.Usage, err, "the regions page, or brine regions ls, lists the current regions")
		}
		return err
	}, nil
}

// described describes a region to people, without masked keys.
func (o *Operations) described(t *regions.Table, r hbase.Region) string {
	if o.masksKey(t.Name, nil) {
		return fmt.Sprintf("region %s of %s, %s on %s", r.Encoded, t.Name, t.Size(r.Encoded), r.Server)
	}
	return t.Describe(r)
}
