package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// A table whose attribute REGION_REPLICATION is n has n-1 read-only replicas of each region, on other nodes if there are enough. They read
// the store that the region writes to, so they never lag; they mark their answers as possibly stale all the same. A replica is open while
// its region's table is enabled, even while the region itself moves to another node.
//
// A replica has no row in hbase:meta, but columns in its region's row: server_0001, serverstartcode_0001, seqnumDuringOpen_0001, sn_0001
// and state_0001.

const maxReplication = 64 // HBase would accept more, but nobody means it

// replication returns how many servers may answer reads of a region of the table, the region's own included.
func (t *table) replication() int {
	n, _ := replicationOf(t.schema)
	return n
}

func replicationOf(s *hbasepb.TableSchema) (int, error) {
	text, ok := attribute(s.GetAttributes(), s.GetConfiguration(), "REGION_REPLICATION")
	if !ok {
		return 1, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > maxReplication {
		return 1, final(classIllegalArgument, "REGION_REPLICATION must be a number from 1 to %d, not %q", maxReplication, text)
	}
	return n, nil
}

// replicaOf returns a new replica of a region, with the given number.
func replicaOf(r *region, number int) *region {
	info := proto.Clone(r.info).(*hbasepb.RegionInfo)
	info.ReplicaId = proto.Int32(int32(number))
	return regionOf(r.table, info)
}

func (r *region) isReplica() bool { return r.info.GetReplicaId() > 0 }

// writable returns an exception if the region is a replica, which rejects writes.
func (r *region) writable() error {
	if r.isReplica() {
		return final(classDoNotRetry, "region is read only")
	}
	return nil
}

// replicate plans the replicas of a region that is on a node, or about to be, and adds their columns to a batch. Replicas on a live node
// other than the region's stay where they are. The caller holds c.change.
func (c *cluster) replicate(b *store.Batch, r *region, at *node) (change replicaChange, err error) {
	if r.table == c.meta {
		return change, nil
	}
	change.r, change.now = r, slices.Clone(r.replicas)
	w := metaRow{c: c, b: b, row: r.name}
	for n := r.table.replication(); len(change.now) > n-1; {
		last := change.now[len(change.now)-1]
		change.now = change.now[:len(change.now)-1]
		change.close = append(change.close, last)
		w.dropReplica(len(change.now) + 1)
	}
	taken := []*node{at}
	for i := 1; i < r.table.replication(); i++ {
		if i > len(change.now) {
			change.now = append(change.now, replicaOf(r, i))
		}
		p := change.now[i-1]
		to := p.at()
		if better := c.pickBeside(taken); to == nil || !to.alive() || slices.Contains(taken, to) && better != nil {
			if to = better; to == nil {
				to = at
			}
			p.seq++
			change.open = append(change.open, placement{p, to})
			w.putReplica(p, to)
		}
		taken = append(taken, to)
	}
	return change, w.err
}

func (c *cluster) replicasOf(r *region) []*region {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return r.replicas
}

// hasReplica reports whether a name or encoded name belongs to a replica of one of the table's regions.
func (c *cluster) hasReplica(t *table, name string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.ContainsFunc(t.regions, func(r *region) bool {
		return slices.ContainsFunc(r.replicas, func(p *region) bool { return p.encoded == name || string(p.name) == name })
	})
}

// pickBeside returns a live node that is not in taken, or nil if there is none.
func (c *cluster) pickBeside(taken []*node) *node {
	up := c.live()
	for i := range up {
		if n := up[(max(c.turn, 0)+1+i)%len(up)]; !slices.Contains(taken, n) {
			return n
		}
	}
	return nil
}

// replicaChange is a change of a region's replicas, to be carried out once it is committed.
type replicaChange struct {
	r     *region
	now   []*region
	close []*region
	open  []placement
}

// doReplicas opens and closes replicas. The caller holds c.change.
func (c *cluster) doReplicas(change replicaChange) {
	if change.r == nil {
		return
	}
	c.mu.Lock()
	change.r.replicas = change.now
	c.mu.Unlock()
	for _, p := range change.close {
		p.shut()
	}
	for _, p := range change.open {
		p.r.shut()
		p.to.open(p.r)
	}
}

// shut closes a replica if it is open.
func (r *region) shut() {
	if n := r.at(); n != nil {
		n.take(r)
	}
}

// shutReplicas closes the replicas of a region that does not reopen, and returns where they were.
func (r *region) shutReplicas() (from []placement) {
	for _, p := range r.replicas {
		if n := p.at(); n != nil {
			from = append(from, placement{p, n})
			n.take(p)
		}
	}
	return from
}

// replicateAll opens and closes replicas of open regions as needed after their number changed or a node ended.
func (c *cluster) replicateAll(tables ...*table) error {
	var changes []replicaChange
	b := c.store.NewBatch()
	for _, t := range tables {
		for _, r := range t.regions {
			at := r.at()
			if at == nil || r.moving {
				continue // done when it opens
			}
			change, err := c.replicate(b, r, at)
			if err != nil {
				return errors.Join(err, b.Close())
			}
			if len(change.open)+len(change.close) > 0 {
				changes = append(changes, change)
			}
		}
	}
	if len(changes) == 0 {
		return b.Close()
	}
	if err := b.CommitSurely(c.ctx); err != nil {
		return errors.Join(err, b.Close())
	}
	for _, change := range changes {
		c.doReplicas(change)
	}
	return nil
}

// replicaColumns are the columns of a replica in its region's row.
var replicaColumns = []string{"server", "serverstartcode", metaSeqNum, "sn", metaState}

func replicaColumn(name string, number int) string { return fmt.Sprintf("%s_%04X", name, number) }

func (w *metaRow) putReplica(p *region, to *node) {
	put := func(name string, value []byte) { w.put(replicaColumn(name, int(p.info.GetReplicaId())), value) }
	put("server", []byte(to.reached()))
	put("serverstartcode", binary.BigEndian.AppendUint64(nil, uint64(to.startCode)))
	put(metaSeqNum, binary.BigEndian.AppendUint64(nil, uint64(p.seq)))
	put("sn", []byte(to.String()))
	put(metaState, []byte(hbasepb.RegionState_OPEN.String()))
}

func (w *metaRow) dropReplica(number int) {
	for _, name := range replicaColumns {
		if w.err == nil {
			w.err = w.b.Add(store.MetaSpace, w.row, []byte(metaInfo), []byte(replicaColumn(name, number)), w.c.now(), store.DeleteColumn, nil)
		}
	}
}
