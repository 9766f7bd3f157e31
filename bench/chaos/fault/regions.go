package fault

import (
	"context"
	"errors"
	"slices"
	"time"

	"brine/hbase"
)

// Split splits a region in two.
func (s *Scene) Split() error { return s.anyOf(s.splitOne) }

// Merge merges two regions.
func (s *Scene) Merge() error { return s.anyOf(s.mergeTwo) }

func (s *Scene) splitOne() error {
	i, all, err := s.pick(func(i int, all []hbase.Region) bool { return s.Middle(all[i]) != nil })
	if err != nil {
		return err
	}
	at := s.Middle(all[i])
	s.Hits("[%s, %s) at %s", all[i].Start, all[i].End, at)
	return s.Admin.SplitRegion(s.Ctx, all[i], at)
}

func (s *Scene) mergeTwo() error {
	i, all, err := s.pick(func(i int, all []hbase.Region) bool { return i > 0 && all[i-1].Table == all[i].Table })
	if err != nil {
		return err
	}
	s.Hits("[%s, %s) and [%s, %s)", all[i-1].Start, all[i-1].End, all[i].Start, all[i].End)
	return s.Admin.MergeRegions(s.Ctx, all[i-1], all[i])
}

// Move moves a region to the other server.
func (s *Scene) Move() error {
	i, all, err := s.pick(func(int, []hbase.Region) bool { return true })
	if err != nil {
		return err
	}
	s.Hits("[%s, %s) from %s", all[i].Start, all[i].End, s.name(all[i].Server))
	for range 5 { // a master that has not yet seen the other server, just back, leaves the region where it is
		if err := s.Admin.MoveRegion(s.Ctx, all[i], ""); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(s.Ctx, 3*time.Second)
		err := Until(ctx, func() bool { return len(s.moved(all[i:i+1])) > 0 })
		cancel()
		if err == nil {
			return nil
		}
	}
	return errors.New("the master did not move it")
}

// moved returns those of some regions that are now on another server.
func (s *Scene) moved(before []hbase.Region) (out []hbase.Region) {
	for _, r := range s.Watch.Regions() {
		if i := slices.IndexFunc(before, func(o hbase.Region) bool { return o.Encoded == r.Encoded }); i >= 0 && before[i].Server != r.Server {
			out = append(out, r)
		}
	}
	return out
}

// Disable disables a table for a moment.
func (s *Scene) Disable() error {
	table := s.table()
	s.Hits("%s for %v", table, down)
	err := s.Admin.DisableTable(s.Ctx, table)
	if err == nil {
		err = Pause(s.Ctx, down)
	}
	return errors.Join(err, s.Admin.EnableTable(s.Ctx, table)) // also if it is unknown whether it was disabled
}

// Compact flushes and compacts a table.
func (s *Scene) Compact() error {
	table := s.table()
	s.Hits("%s", table)
	if err := s.Admin.FlushTable(s.Ctx, table); err != nil {
		return err
	}
	return s.Admin.CompactTable(s.Ctx, table, true)
}

// Balance makes the master spread the regions again, which earlier faults have driven onto one server.
func (s *Scene) Balance() error {
	before := s.Watch.Regions()
	for _, on := range []bool{false, true} {
		if _, err := s.Admin.SetBalancer(s.Ctx, on); err != nil {
			return err
		}
	}
	if err := s.balance(); err != nil {
		return err
	}
	if err := Pause(s.Ctx, down); err != nil { // it moves them one by one
		return err
	}
	s.Hits("%d regions moved", len(s.moved(before)))
	return nil
}

// balance makes the master spread the regions. The master answers once the last of them has moved, which takes minutes on a busy machine,
// and further requests wait behind that. So balance asks only once, and the watch sees when all are open.
func (s *Scene) balance() error {
	_, err := s.Admin.Balance(hbase.WithCallOptions(s.Ctx, hbase.CallOptions{Retries: -1}))
	if errors.Is(err, context.DeadlineExceeded) && s.Ctx.Err() == nil {
		return nil
	}
	return err
}
