package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// zkRegistry reads from ZooKeeper where master and hbase:meta are. It sets no watches: a location that has become wrong is
// noticed by whoever uses it, and asked for again.
type zkRegistry struct {
	quorum   *quorum
	parent   string // zookeeper.znode.parent
	patience time.Duration
}

// What a master keeps below the parent. One of them is enough to know it by.
const (
	znodeMaster = "master"
	znodeMeta   = "meta-region-server"
)

var hbaseZnodes = []string{znodeMaster, znodeMeta, "hbaseid", "rs", "backup-masters", "running"}

// errZnode is a parent that is not HBase's: waiting does not help.
var errZnode = errors.New("not HBase's znode")

func (g *zkRegistry) activeMaster(ctx context.Context) (string, error) {
	var m hbasepb.Master
	if err := g.read(ctx, znodeMaster, &m); err != nil {
		return "", fmt.Errorf("active master: %w", err)
	}
	return serverAddr(m.GetMaster()), nil
}

func (g *zkRegistry) meta(ctx context.Context) (*Region, error) {
	var m hbasepb.MetaRegionServer
	if err := g.read(ctx, znodeMeta, &m); err != nil {
		return nil, fmt.Errorf("hbase:meta: %w", err)
	}
	if m.State != nil && m.GetState() != hbasepb.RegionState_OPEN {
		return nil, fmt.Errorf("hbase:meta is %v on %s: %w", m.GetState(), serverAddr(m.GetServer()), errNoServer)
	}
	info := &hbasepb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName(metaTable)}
	return metaRegion(&hbasepb.RegionLocation{RegionInfo: info, ServerName: m.Server}), nil
}

func (g *zkRegistry) close() { g.quorum.leave() }

// read reads a znode of HBase's. That it is not there means that HBase is starting, unless the parent is not HBase's at all.
func (g *zkRegistry) read(ctx context.Context, name string, m proto.Message) error {
	return g.quorum.use(ctx, g.patience, func(ctx context.Context, s *zkSession) error {
		data, err := s.data(ctx, path.Join(g.parent, name))
		if errors.Is(err, zkNoNode) {
			return g.explain(ctx, s, name)
		}
		if err == nil {
			err = parseZnode(data, m)
		}
		if err != nil {
			return fmt.Errorf("znode %s: %w", path.Join(g.parent, name), err)
		}
		return nil
	})
}

// explain tells why a znode is missing. An empty parent, or no parent where nothing else is either, is an HBase that starts
// for the first time.
func (g *zkRegistry) explain(ctx context.Context, s *zkSession, name string) error {
	names, err := s.children(ctx, g.parent)
	if err == nil {
		if len(names) == 0 || slices.ContainsFunc(names, isHBases) {
			return fmt.Errorf("%w: znode %s is not there (yet)", errNoZnode, path.Join(g.parent, name))
		}
		return fmt.Errorf("%w: %s in option Connect, which holds %s; it must be the cluster's zookeeper.znode.parent", errZnode, g.parent, list(names))
	}
	if !errors.Is(err, zkNoNode) {
		return err
	}
	above := path.Dir(g.parent)
	if names, err = s.children(ctx, above); err != nil && !errors.Is(err, zkNoNode) {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "zookeeper" }) // its own
	if len(names) == 0 {
		return fmt.Errorf("%w: znode %s is not there (yet)", errNoZnode, g.parent)
	}
	return fmt.Errorf("%w: option Connect names %s, but %s holds only %s; it must be the cluster's zookeeper.znode.parent", errZnode, g.parent, above, list(names))
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

// znodeMagic begins a znode's data, before its writer's name.
const znodeMagic = 0xff

// parseZnode reads what HBase keeps in a znode:
//
//	0xff | int32 length | name of the process that wrote it | "PBUF" | message
//
// All before "PBUF" may be missing.
func parseZnode(data []byte, m proto.Message) error {
	rest := data
	if len(rest) > 0 && rest[0] == znodeMagic {
		if len(rest) < 5 || uint64(binary.BigEndian.Uint32(rest[1:])) > uint64(len(rest)-5) {
			return fmt.Errorf("%w: %q is no znode of HBase's", errInvalidResponse, data)
		}
		rest = rest[5+binary.BigEndian.Uint32(rest[1:]):]
	}
	rest, ok := bytes.CutPrefix(rest, []byte(protobufMagic))
	if !ok {
		return fmt.Errorf("%w: %q is no znode of HBase's", errInvalidResponse, data)
	}
	if err := proto.Unmarshal(rest, m); err != nil {
		return fmt.Errorf("%w: znode: %w", errInvalidResponse, err)
	}
	return nil
}
