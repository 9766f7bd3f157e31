package hbase

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/rpc"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// ClusterStatus is the state of the cluster as the master knows it. Loads are as old as the servers' last reports.
type ClusterStatus struct {
	Version, ID   string
	Master        string // host:port
	BackupMasters []string
	Servers       []ServerLoad
	Dead          []string
	BalancerOn    bool
	InTransition  int // number of regions
}

// ServerLoad is the load of one region server.
type ServerLoad struct {
	Addr            string // host:port
	Started         time.Time
	Requests        uint64 // since it started
	Reads, Writes   uint64 // part of Requests; 0 before HBase 3
	HeapMB, HeapMax int
	Regions         []RegionLoad
}

// RegionLoad is the load of one region.
type RegionLoad struct {
	Table, Name, Encoded        string
	Stores, StoreFiles          int
	StoreFileMB, MemStoreMB     int
	Reads, Writes, Filtered     uint64 // requests since the region was opened
	Locality                    float32
	CompactingKVs, CompactedKVs uint64 // of the running compactions
}

// ClusterStatus asks the master for everything except the tables.
func (c *Client) ClusterStatus(ctx context.Context) (ClusterStatus, error) {
	m, err := c.clusterStatus(ctx, "cluster status")
	s := ClusterStatus{
		Version: m.GetHbaseVersion().GetVersion(), ID: m.GetClusterId().GetClusterId(), BalancerOn: m.GetBalancerOn(),
		InTransition: len(m.GetRegionsInTransition()), BackupMasters: addrs(m.GetBackupMasters()), Dead: addrs(m.GetDeadServers()),
	}
	if m.GetMaster() != nil {
		s.Master = locate.ServerAddr(m.Master)
	}
	for _, l := range m.GetLiveServers() {
		s.Servers = append(s.Servers, serverLoad(l))
	}
	slices.SortFunc(s.Servers, func(a, b ServerLoad) int { return strings.Compare(a.Addr, b.Addr) })
	return s, err
}

func (c *Client) clusterStatus(ctx context.Context, op string, parts ...hbasepb.Option) (*hbasepb.ClusterStatus, error) {
	var out hbasepb.GetClusterStatusResponse
	err := c.master(ctx, op, "", "GetClusterStatus", &hbasepb.GetClusterStatusRequest{Options: parts}, &out)
	return out.GetClusterStatus(), err
}

func addrs(names []*hbasepb.ServerName) (out []string) {
	for _, n := range names {
		out = append(out, locate.ServerAddr(n))
	}
	return out
}

func serverLoad(l *hbasepb.LiveServerInfo) ServerLoad {
	load := l.GetServerLoad()
	s := ServerLoad{
		Addr: locate.ServerAddr(l.GetServer()), Started: time.UnixMilli(int64(l.GetServer().GetStartCode())),
		Requests: load.GetTotalNumberOfRequests(), HeapMB: int(load.GetUsedHeap_MB()), HeapMax: int(load.GetMaxHeap_MB()),
	}
	s.Reads, s.Writes = requestCounts(load)
	for _, r := range load.GetRegionLoads() {
		s.Regions = append(s.Regions, regionLoad(r))
	}
	return s
}

// requestCounts reads fields 13 and 14 of HBase 3. HBase 2.6 has a map as field 13; the wire type tells the two apart.
func requestCounts(load *hbasepb.ServerLoad) (reads, writes uint64) {
	for rest := load.ProtoReflect().GetUnknown(); len(rest) > 0; {
		number, kind, tag := protowire.ConsumeTag(rest)
		if tag < 0 {
			break
		}
		n := protowire.ConsumeFieldValue(number, kind, rest[tag:])
		if n < 0 {
			break
		}
		if kind == protowire.VarintType && number == 13 {
			reads, _ = protowire.ConsumeVarint(rest[tag:])
		}
		if kind == protowire.VarintType && number == 14 {
			writes, _ = protowire.ConsumeVarint(rest[tag:])
		}
		rest = rest[tag+n:]
	}
	return reads, writes
}

func regionLoad(l *hbasepb.RegionLoad) RegionLoad {
	name := l.GetRegionSpecifier().GetValue()
	table, _, _ := strings.Cut(string(name), ",")
	return RegionLoad{
		Table: table, Name: string(name), Encoded: locate.EncodedName(name),
		Stores: int(l.GetStores()), StoreFiles: int(l.GetStorefiles()),
		StoreFileMB: int(l.GetStorefileSize_MB()), MemStoreMB: int(l.GetMemStoreSize_MB()),
		Reads: l.GetReadRequestsCount(), Writes: l.GetWriteRequestsCount(), Filtered: l.GetFilteredReadRequestsCount(),
		Locality:      l.GetDataLocality(),
		CompactingKVs: l.GetTotalCompacting_KVs(), CompactedKVs: l.GetCurrentCompacted_KVs(),
	}
}

// RegionLoads asks the servers of a table for the loads of its regions and returns them in the order of their names. A region that moves
// during the call may be missing.
func (c *Client) RegionLoads(ctx context.Context, table string) ([]RegionLoad, error) {
	regions, err := c.Regions(ctx, table)
	if err != nil {
		return nil, err
	}
	asked := make(map[string]bool)
	var loads []RegionLoad
	for _, r := range regions {
		if r.Server == "" || asked[r.Server] {
			continue
		}
		asked[r.Server] = true
		var out hbasepb.GetRegionLoadResponse
		in := &hbasepb.GetRegionLoadRequest{TableName: locate.TableName(table)}
		if err := c.onServer(ctx, c.newTries("load of regions of", r.Table), r, "GetRegionLoad", in, &out); err != nil {
			return nil, err
		}
		for _, l := range out.RegionLoads {
			loads = append(loads, regionLoad(l))
		}
	}
	slices.SortFunc(loads, func(a, b RegionLoad) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(loads, func(a, b RegionLoad) bool { return a.Name == b.Name }), nil
}

// SetBalancer switches the balancer on or off, waits for a running balance to end, and reports whether the balancer was on.
func (c *Client) SetBalancer(ctx context.Context, on bool) (was bool, err error) {
	var out hbasepb.SetBalancerRunningResponse
	in := &hbasepb.SetBalancerRunningRequest{On: &on, Synchronous: proto.Bool(true)}
	err = c.master(ctx, "set balancer", "", "SetBalancerRunning", in, &out)
	return out.GetPrevBalanceValue(), err
}

// BalancerOn reports whether the balancer is on.
func (c *Client) BalancerOn(ctx context.Context) (bool, error) {
	var out hbasepb.IsBalancerEnabledResponse
	err := c.master(ctx, "balancer", "", "IsBalancerEnabled", &hbasepb.IsBalancerEnabledRequest{}, &out)
	return out.GetEnabled(), err
}

// Balance moves regions now so that the servers have about the same number of them. It reports whether the balancer ran; it does not run if
// it is off or regions are in transition.
func (c *Client) Balance(ctx context.Context) (ran bool, err error) {
	var out hbasepb.BalanceResponse
	err = c.master(ctx, "balance", "", "Balance", &hbasepb.BalanceRequest{}, &out)
	return out.GetBalancerRan(), err
}

// SetNormalizer switches the normalizer on or off and reports whether it was on. The normalizer splits and merges regions so that the
// regions of a table have about the same size.
func (c *Client) SetNormalizer(ctx context.Context, on bool) (was bool, err error) {
	var out hbasepb.SetNormalizerRunningResponse
	err = c.master(ctx, "set normalizer", "", "SetNormalizerRunning", &hbasepb.SetNormalizerRunningRequest{On: &on}, &out)
	return out.GetPrevNormalizerValue(), err
}

// NormalizerOn reports whether the normalizer is on.
func (c *Client) NormalizerOn(ctx context.Context) (bool, error) {
	var out hbasepb.IsNormalizerEnabledResponse
	err := c.master(ctx, "normalizer", "", "IsNormalizerEnabled", &hbasepb.IsNormalizerEnabledRequest{}, &out)
	return out.GetEnabled(), err
}

// Normalize starts the normalizer on the given tables, or on all tables if none are given; it acts only on tables with the attribute
// NORMALIZATION_ENABLED. Normalize reports whether the normalizer ran; it does not run if it is off.
func (c *Client) Normalize(ctx context.Context, tables ...string) (ran bool, err error) {
	in := &hbasepb.NormalizeRequest{}
	for _, t := range tables {
		in.TableNames = append(in.TableNames, locate.TableName(t))
	}
	var out hbasepb.NormalizeResponse
	err = c.master(ctx, "normalize", "", "Normalize", in, &out)
	return out.GetNormalizerRan(), err
}

// SlowCalls selects the calls that SlowLog asks for.
type SlowCalls struct {
	Large  bool   // calls with large answers instead of slow calls
	Table  string // empty: all tables
	User   string
	Client string // host:port of the caller
	Limit  int    // per server; 0 means 100
}

// SlowCall is a call that took a server a long time or had a large answer.
type SlowCall struct {
	Server, Client, User string
	Method, Region       string
	Details              string // as in the server's log
	Began                time.Time
	Took, Queued         time.Duration
	Bytes                int64 // of the answer
	Gets, Mutations      int   // of a Multi
}

// Java class names by which GetLogEntries identifies its messages.
const (
	protos        = "org.apache.hadoop.hbase.shaded.protobuf.generated."
	slowLogsAsked = protos + "AdminProtos$SlowLogResponseRequest"
)

// SlowLog asks all region servers for the slow or large calls that they remember and returns them latest first. Servers remember calls only
// with hbase.regionserver.slowlog.buffer.enabled. Servers that do not answer are skipped; SlowLog fails if none answers.
func (c *Client) SlowLog(ctx context.Context, of SlowCalls) ([]SlowCall, error) {
	const op = "slow log"
	status, err := c.clusterStatus(ctx, op, hbasepb.Option_SERVERS_NAME)
	if err != nil {
		return nil, err
	}
	asked, err := proto.Marshal(of.message())
	if err != nil {
		return nil, &Error{Op: op, Attempts: 1, Err: err}
	}
	in := &hbasepb.LogRequest{LogClassName: proto.String(slowLogsAsked), LogMessage: asked}
	ctx, cancel := c.joined(ctx)
	defer cancel()
	var found []SlowCall
	var away error
	answered := 0
	for _, addr := range addrs(status.GetServersName()) {
		var out hbasepb.LogEntry
		var calls hbasepb.SlowLogResponses
		_, err := c.servers.Call(ctx, rpc.AdminService.At(addr), "GetLogEntries", in, &out)
		if err == nil {
			err = proto.Unmarshal(out.LogMessage, &calls)
		}
		if err != nil {
			away = &Error{Op: op, Server: addr, Attempts: 1, Err: err}
			continue
		}
		answered++
		for _, p := range calls.SlowLogPayloads {
			found = append(found, slowCall(addr, p))
		}
	}
	if answered == 0 && away != nil {
		return nil, away
	}
	slices.SortFunc(found, func(a, b SlowCall) int { return b.Began.Compare(a.Began) })
	return found, nil
}

func (s *SlowCalls) message() *hbasepb.SlowLogResponseRequest {
	kind := hbasepb.SlowLogResponseRequest_SLOW_LOG
	if s.Large {
		kind = hbasepb.SlowLogResponseRequest_LARGE_LOG
	}
	m := &hbasepb.SlowLogResponseRequest{
		LogType: &kind, Limit: proto.Uint32(uint32(cmp.Or(s.Limit, 100))),
		FilterByOperator: hbasepb.SlowLogResponseRequest_AND.Enum(),
	}
	if s.Table != "" {
		m.TableName = &s.Table
	}
	if s.User != "" {
		m.UserName = &s.User
	}
	if s.Client != "" {
		m.ClientAddress = &s.Client
	}
	return m
}

func slowCall(server string, p *hbasepb.SlowLogPayload) SlowCall {
	return SlowCall{
		Server: server, Client: p.GetClientAddress(), User: p.GetUserName(), Method: p.GetMethodName(), Region: p.GetRegionName(),
		Details: p.GetCallDetails(), Began: time.UnixMilli(p.GetStartTime()), Bytes: p.GetResponseSize(),
		Took:   time.Duration(p.GetProcessingTime()) * time.Millisecond,
		Queued: time.Duration(p.GetQueueTime()) * time.Millisecond,
		Gets:   int(p.GetMultiGets()), Mutations: int(p.GetMultiMutations()),
	}
}

// testedVersions are the HBase releases that the tests run against.
var testedVersions = []string{"2.4", "2.5", "2.6"}

// TestedVersions returns the HBase releases that this client is tested with.
func TestedVersions() []string { return slices.Clone(testedVersions) }

// ServerVersion returns the release of the active master and whether this client is tested with it. Other 2.x releases most likely work as
// well.
func (c *Client) ServerVersion(ctx context.Context) (version string, tested bool, err error) {
	status, err := c.clusterStatus(ctx, "server version", hbasepb.Option_HBASE_VERSION)
	version = status.GetHbaseVersion().GetVersion()
	return version, slices.ContainsFunc(testedVersions, func(t string) bool { return strings.HasPrefix(version, t+".") }), err
}

// warnOfVersion calls the Untested hook if the release is not tested. If the master does not report its release, Open succeeds all the
// same.
func (c *Client) warnOfVersion(ctx context.Context) {
	if c.opts.Hooks.Untested == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.DialTimeout)
	defer cancel()
	if _, err := c.Master(ctx); err != nil {
		return
	}
	if version, tested, err := c.ServerVersion(ctx); err == nil && !tested {
		c.opts.Hooks.Untested(UntestedInfo{version})
	}
}
