package embedded_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
	"brine/internal/gssapi/gssapitest"

	"google.golang.org/protobuf/proto"
)

// limits returns LIMITS.md.
func limits(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("LIMITS.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wantRefusal checks for a final exception that names the missing feature.
func wantRefusal(t *testing.T, err error, says string) {
	t.Helper()
	wantException(t, err, hbase+"DoNotRetryIOException", true)
	if !strings.Contains(err.Error(), "the embedded HBase server does not support "+says) {
		t.Errorf("%v does not say that there is no %s", err, says)
	}
}

// Calls that LIMITS.md lists as "not there" are refused by name.
func TestCallsThatAreNotThere(t *testing.T) {
	text := limits(t)
	s := start(t, embedded.Options{})
	served := embedded.Methods()
	for _, c := range []struct {
		limit   string // in LIMITS.md
		service string
		methods []string
	}{
		{"bulk loads", "ClientService", []string{"BulkLoadHFile", "PrepareBulkLoad", "CleanupBulkLoad"}},
		{"coprocessor calls (ExecService, ExecRegionServerService", "ClientService", []string{"ExecService", "ExecRegionServerService"}},
		{"the rest: WAL rolling, replication, configuration, compaction switches", "AdminService", []string{
			"RollWALWriter", "ReplicateWALEntry", "Replay", "UpdateConfiguration", "CompactionSwitch", "StopServer", "ClearCompactionQueues",
		}},
		{"HasUserPermissions", "MasterService", []string{"HasUserPermissions"}},
		{"changes of a peer", "MasterService", []string{"UpdateReplicationPeerConfig"}},
		{"catalog janitor", "MasterService", []string{"RunCatalogScan", "EnableCatalogJanitor", "IsCatalogJanitorEnabled"}},
		{"decommissioning", "MasterService", []string{"DecommissionRegionServers", "ListDecommissionedRegionServers", "RecommissionRegionServer"}},
		{"region server groups", "MasterService", []string{"AddRSGroup", "ListRSGroupInfos", "MoveServers"}},
	} {
		if !strings.Contains(text, c.limit) {
			t.Errorf("LIMITS.md does not say %q", c.limit)
		}
		conn := dial(t, s.Addr(), c.service)
		for _, method := range c.methods {
			if served[c.service][method] != nil {
				t.Errorf("%s.%s is served", c.service, method)
				continue
			}
			_, err := conn.call(method, &hbasepb.IsMasterRunningRequest{}, &hbasepb.IsMasterRunningResponse{}, nil)
			wantRefusal(t, err, c.service+"."+method)
		}
	}
}

// Missing features of supported calls, as listed in LIMITS.md, are refused by name.
func TestPartsThatAreNotThere(t *testing.T) {
	text := limits(t)
	s := start(t, embedded.Options{})
	spec := region(create(t, s.Addr(), "t", nil, family("e"))[0])
	table := func(fs ...*hbasepb.ColumnFamilySchema) *hbasepb.CreateTableRequest {
		return &hbasepb.CreateTableRequest{TableSchema: &hbasepb.TableSchema{TableName: tableNamed("n"), ColumnFamilies: fs}}
	}
	meta := &hbasepb.TableName{Namespace: []byte("hbase"), Qualifier: []byte("meta")}
	tagged := putOf("r", 0)
	tagged.AssociatedCellCount = nil
	tagged.ColumnValue = []*hbasepb.MutationProto_ColumnValue{{Family: []byte("e"), QualifierValue: []*hbasepb.MutationProto_ColumnValue_QualifierValue{
		{Qualifier: []byte("q"), Value: []byte("v"), Tags: []byte("tag")},
	}}}
	for _, c := range []struct {
		limit, service, method string
		param                  proto.Message
		says                   string
	}{
		{"GetLogEntries of slow calls", "AdminService", "GetLogEntries",
			&hbasepb.LogRequest{LogClassName: proto.String("x.MasterProtos$BalancerDecisionsRequest"), LogMessage: []byte{}},
			"log entries for x.MasterProtos$BalancerDecisionsRequest"},
		{"quotas of region servers", "MasterService", "SetQuota", &hbasepb.SetQuotaRequest{RegionServer: proto.String("all")}, "quotas of region servers"},
		{"hbase:meta` has none", "MasterService", "ModifyTable", &hbasepb.ModifyTableRequest{TableName: meta, TableSchema: &hbasepb.TableSchema{TableName: meta}},
			"a change of hbase:meta"},
		{"`KEEP_DELETED_CELLS` TTL", "MasterService", "CreateTable", table(family("e", "KEEP_DELETED_CELLS", "TTL")), "KEEP_DELETED_CELLS => TTL"},
		{"`NEW_VERSION_BEHAVIOR` true", "MasterService", "CreateTable", table(family("e", "NEW_VERSION_BEHAVIOR", "true")), "NEW_VERSION_BEHAVIOR"},
		{"**No tags**", "ClientService", "Mutate", &hbasepb.MutateRequest{Region: spec, Mutation: tagged}, "cell tags"},
		{"that of an increment or append is refused", "ClientService", "Mutate", &hbasepb.MutateRequest{Region: spec, Mutation: &hbasepb.MutationProto{
			Row: []byte("r"), MutateType: hbasepb.MutationProto_APPEND.Enum(),
			Attribute: []*hbasepb.NameBytesPair{{Name: proto.String("_ttl"), Value: make([]byte, 8)}},
		}}, "a time to live of an increment or an append"},
	} {
		if !strings.Contains(text, c.limit) {
			t.Errorf("LIMITS.md does not say %q", c.limit)
		}
		_, err := dial(t, s.Addr(), c.service).call(c.method, c.param, &hbasepb.IsMasterRunningResponse{}, nil)
		wantRefusal(t, err, c.says)
	}

	r := &hbasepb.MultiResponse{}
	call := &hbasepb.CoprocessorServiceCall{Row: []byte("r"), ServiceName: proto.String("Rows"), MethodName: proto.String("count"), Request: []byte{}}
	dial(t, s.Addr(), "ClientService").must("Multi", &hbasepb.MultiRequest{RegionAction: []*hbasepb.RegionAction{
		{Region: spec, Action: []*hbasepb.Action{{Index: proto.Uint32(0), ServiceCall: call}}},
	}}, r, nil)
	e := r.RegionActionResult[0].ResultOrException[0].GetException()
	if short(e) != "DoNotRetryIOException" || !strings.Contains(string(e.GetValue()), "coprocessor calls (Rows.count)") {
		t.Errorf("an action's service call: %v", e)
	}
}

// Features that LIMITS.md says require another authentication are refused, with Kerberos too.
func TestTokensAreRefused(t *testing.T) {
	if !strings.Contains(limits(t), "delegation tokens") {
		t.Error("LIMITS.md does not name delegation tokens")
	}
	keytab := gssapitest.NewKDC("TEST.EXAMPLE").Keytab(t, "hbase/localhost")
	for class, o := range map[string]embedded.Options{
		"ipc.BadAuthException":           {},
		"security.AccessDeniedException": {Kerberos: &embedded.Kerberos{Keytab: keytab}},
	} {
		c := dialBytes(t, start(t, o).Addr(), wire.AppendPreamble(nil, wire.Preamble{Auth: wire.AuthDigest}))
		if r, err := c.receive(); err != nil || r.Exception.GetExceptionClassName() != hbase+class || !r.Exception.GetDoNotRetry() {
			t.Errorf("%v, %v; want %s", r.Exception, err, class)
		}
	}
}

// The filters and comparators that LIMITS.md lists as there are supported; those that it lists as not there are refused by name.
func TestFiltersOfTheLimits(t *testing.T) {
	_, text, found := strings.Cut(limits(t), "\n## Filters\n")
	there, missing, both := strings.Cut(text, "\nNot there (")
	if !found || !both {
		t.Fatal("LIMITS.md has no filters, or none that are not there")
	}
	s := start(t, embedded.Options{})
	spec := region(create(t, s.Addr(), "t", nil, family("e"))[0])
	c := dial(t, s.Addr(), "ClientService")
	refusal := func(class string) string {
		f := filter(class, nil)
		if strings.HasSuffix(class, "Comparator") {
			f = filter("RowFilter", &hbasepb.RowFilter{CompareFilter: compare(hbasepb.CompareType_EQUAL, &hbasepb.Comparator{Name: proto.String(hbase + "filter." + class)})})
		}
		_, err := c.call("Scan", &hbasepb.ScanRequest{Region: spec, Scan: &hbasepb.Scan{Filter: f}}, &hbasepb.ScanResponse{}, nil)
		if err == nil {
			return ""
		}
		wantException(t, err, hbase+"DoNotRetryIOException", true)
		return err.Error()
	}
	names := regexp.MustCompile(`\b[A-Z]\w*(Filter|List|Comparator)\b`)
	for part, known := range map[string]bool{there: true, missing: false} {
		all := names.FindAllString(part, -1)
		if len(all) < 8 {
			t.Errorf("only %v", all)
		}
		for _, class := range all {
			unsupported := regexp.MustCompile("does not support the (filter|comparator) .*" + class).MatchString(refusal(class))
			if unsupported == known {
				t.Errorf("%s: there by LIMITS.md: %v, by the server: %v", class, known, !unsupported)
			}
		}
	}
}
