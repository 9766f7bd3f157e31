// Package zk reads the locations of HBase's master and hbase:meta from ZooKeeper. All clusters of a process that name the same servers
// share one session, which is open only while there are requests; see quorums in quorum.go.
package zk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"

	"google.golang.org/protobuf/proto"
)

// Cluster is an HBase cluster as its znodes describe it. It sets no watches: its user notices that a location has become wrong, and asks
// again.
type Cluster struct {
	quorum   *quorum
	parent   string // zookeeper.znode.parent
	patience time.Duration
}

// Dialler connects to a server like net.Dialer.DialContext.
type Dialler func(ctx context.Context, network, addr string) (net.Conn, error)

// Access is how to reach an ensemble. Only clusters with the zero value share a session.
type Access struct {
	Dial Dialler // nil: the operating system's
	Auth string  // user:password for the digest scheme; empty: none
}

// Open returns the cluster whose znodes are below parent. The caller must close it. Every server has patience to answer. Clusters that name
// the same addrs share one session, unless they have their own dialler or user. Open does not connect; the first request does.
func Open(addrs []string, parent string, patience time.Duration, by Access) *Cluster {
	return &Cluster{quorum: joinQuorum(addrs, by), parent: parent, patience: patience}
}

// Close releases the session. The last cluster to release it ends it.
func (c *Cluster) Close() { c.quorum.leave() }

// Znodes that a master keeps below the parent. Any one of them identifies an HBase cluster.
const (
	znodeMaster = "master"
	znodeMeta   = "meta-region-server"
)

var hbaseZnodes = []string{znodeMaster, znodeMeta, "hbaseid", "rs", "backup-masters", "running"}

const mustBeParent = "it must be the cluster's zookeeper.znode.parent"

// errZnode reports a parent that is not HBase's. Waiting does not help.
var errZnode = errors.New("not HBase's znode")

// Master returns the active master.
func (c *Cluster) Master(ctx context.Context) (*hbasepb.ServerName, error) {
	var m hbasepb.Master
	if err := c.read(ctx, znodeMaster, &m); err != nil {
		return nil, fmt.Errorf("active master: %w", err)
	}
	return m.GetMaster(), nil
}

// Meta returns the location of hbase:meta.
func (c *Cluster) Meta(ctx context.Context) (*hbasepb.RegionLocation, error) {
	var m hbasepb.MetaRegionServer
	if err := c.read(ctx, znodeMeta, &m); err != nil {
		return nil, fmt.Errorf("hbase:meta: %w", err)
	}
	if m.State != nil && m.GetState() != hbasepb.RegionState_OPEN {
		at := net.JoinHostPort(m.GetServer().GetHostName(), strconv.Itoa(int(m.GetServer().GetPort())))
		return nil, fmt.Errorf("hbase:meta is %v on %s: %w", m.GetState(), at, remote.ErrNoServer)
	}
	meta := &hbasepb.TableName{Namespace: []byte("hbase"), Qualifier: []byte("meta")}
	return &hbasepb.RegionLocation{RegionInfo: &hbasepb.RegionInfo{RegionId: proto.Uint64(1), TableName: meta}, ServerName: m.Server}, nil
}

// read decodes one of HBase's znodes. A missing znode means that HBase is starting, unless the parent is not HBase's at all.
func (c *Cluster) read(ctx context.Context, name string, m proto.Message) error {
	return c.quorum.use(ctx, c.patience, func(ctx context.Context, s *session) error {
		data, err := s.data(ctx, path.Join(c.parent, name))
		if errors.Is(err, noNode) {
			return c.explain(ctx, s, name)
		}
		if err == nil {
			err = parseZnode(data, m)
		}
		if err != nil {
			return fmt.Errorf("znode %s: %w", path.Join(c.parent, name), err)
		}
		return nil
	})
}

// explain returns why a znode is missing. An empty parent, or a missing parent with nothing else beside it, means an HBase that starts for
// the first time.
func (c *Cluster) explain(ctx context.Context, s *session, name string) error {
	names, err := s.children(ctx, c.parent)
	if err == nil {
		if len(names) == 0 || slices.ContainsFunc(names, isHBases) {
			return fmt.Errorf("%w: znode %s does not exist (yet)", remote.ErrNoZnode, path.Join(c.parent, name))
		}
		return fmt.Errorf("%w: %s in option Connect, which holds %s; %s", errZnode, c.parent, list(names), mustBeParent)
	}
	if !errors.Is(err, noNode) {
		return err
	}
	above := path.Dir(c.parent)
	if names, err = s.children(ctx, above); err != nil && !errors.Is(err, noNode) {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "zookeeper" }) // ZooKeeper's own
	if len(names) == 0 {
		return fmt.Errorf("%w: znode %s does not exist (yet)", remote.ErrNoZnode, c.parent)
	}
	return fmt.Errorf("%w: option Connect names %s, but %s holds only %s; %s", errZnode, c.parent, above, list(names), mustBeParent)
}

func isHBases(name string) bool { return slices.Contains(hbaseZnodes, name) }

func list(names []string) string {
	slices.Sort(names)
	const most = 20
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}

// znodeMagic is the first byte of a znode's data, before its writer's name.
const znodeMagic = 0xff

// parseZnode decodes what HBase keeps in a znode:
//
//	0xff | int32 length | name of the process that wrote it | "PBUF" | message
//
// Everything before "PBUF" may be missing.
func parseZnode(data []byte, m proto.Message) error {
	rest := data
	if len(rest) > 0 && rest[0] == znodeMagic {
		if len(rest) < 5 || uint64(binary.BigEndian.Uint32(rest[1:])) > uint64(len(rest)-5) {
			return fmt.Errorf("%w: %q is not an HBase znode", remote.ErrInvalid, data)
		}
		rest = rest[5+binary.BigEndian.Uint32(rest[1:]):]
	}
	rest, ok := bytes.CutPrefix(rest, []byte("PBUF"))
	if !ok {
		return fmt.Errorf("%w: %q is not an HBase znode", remote.ErrInvalid, data)
	}
	if err := proto.Unmarshal(rest, m); err != nil {
		return fmt.Errorf("%w: znode: %w", remote.ErrInvalid, err)
	}
	return nil
}
