package embedded_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// A server restarted on its folder has the same tables, regions, states and cells, and hbase:meta has the new address.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s, err := embedded.Start(embedded.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	before := create(t, s.Addr(), "t", []string{"b", "c,", "d\x00"}, family("e", "VERSIONS", "7"))
	create(t, s.Addr(), "off", nil, family("e"))
	m := dial(t, s.Addr(), "MasterService")
	m.must("DisableTable", &hbasepb.DisableTableRequest{TableName: tableNamed("off")}, &hbasepb.DisableTableResponse{}, nil)
	m.must("CreateNamespace", &hbasepb.CreateNamespaceRequest{NamespaceDescriptor: &hbasepb.NamespaceDescriptor{Name: []byte("ns")}}, &hbasepb.CreateNamespaceResponse{}, nil)
	c := dial(t, s.Addr(), "ClientService")
	c.must("Mutate", &hbasepb.MutateRequest{Region: region(before[2]), Mutation: putOf("c,1", 1)}, &hbasepb.MutateResponse{}, block(cell("c,1", "e", "q", 1, 4, "v")))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = start(t, embedded.Options{Dir: dir})
	after := regionsOf(t, s.Addr(), "t")
	if len(after) != 4 || string(after[2]) != string(before[2]) || !strings.Contains(string(after[2]), "t,c,,") {
		t.Fatalf("regions %q, before %q", after, before)
	}
	c, m = dial(t, s.Addr(), "ClientService"), dial(t, s.Addr(), "MasterService")
	if got := scanCells(t, c, after[2]); len(got) != 1 || string(got[0].Value) != "v" {
		t.Fatal(got)
	}
	for table, want := range map[string]hbasepb.TableState_State{"t": hbasepb.TableState_ENABLED, "off": hbasepb.TableState_DISABLED} {
		r := &hbasepb.GetTableStateResponse{}
		m.must("GetTableState", &hbasepb.GetTableStateRequest{TableName: tableNamed(table)}, r, nil)
		if r.TableState.GetState() != want {
			t.Errorf("%s: %v", table, r.TableState)
		}
	}
	d := &hbasepb.GetTableDescriptorsResponse{}
	m.must("GetTableDescriptors", &hbasepb.GetTableDescriptorsRequest{TableNames: []*hbasepb.TableName{tableNamed("t")}}, d, nil)
	if len(d.TableSchema) != 1 || attribute(d.TableSchema[0].ColumnFamilies[0], "VERSIONS") != "7" || attribute(d.TableSchema[0].ColumnFamilies[0], "TTL") == "" {
		t.Fatal(d)
	}
	n := &hbasepb.ListNamespacesResponse{}
	m.must("ListNamespaces", &hbasepb.ListNamespacesRequest{}, n, nil)
	if strings.Join(n.NamespaceName, " ") != "default hbase ns" {
		t.Fatal(n)
	}
	servers := 0
	for _, cell := range scanCells(t, c, []byte("hbase:meta,,1")) {
		if string(cell.Qualifier) == "server" && strings.HasPrefix(string(cell.Row), "t,") {
			servers++
			if string(cell.Value) != s.Addr() {
				t.Errorf("%q is on %s, the server on %s", cell.Row, cell.Value, s.Addr())
			}
		}
	}
	if servers != 4 {
		t.Errorf("%d regions have a server", servers)
	}
}

func attribute(f *hbasepb.ColumnFamilySchema, key string) string {
	for _, a := range f.Attributes {
		if string(a.First) == key {
			return string(a.Second)
		}
	}
	return ""
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	start(t, embedded.Options{Dir: dir})
	if _, err := embedded.Start(embedded.Options{Dir: dir}); !errors.Is(err, embedded.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Fatal(err)
	}
}

func TestFolderFromNewerVersion(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "BRINE-FORMAT"), []byte("99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and the failed attempt leaves nothing open
		if _, err := embedded.Start(embedded.Options{Dir: dir}); !errors.Is(err, embedded.ErrNewerFormat) || !strings.Contains(err.Error(), dir) {
			t.Fatal(err)
		}
	}
}

// A failed start leaves nothing behind.
func TestPortInUse(t *testing.T) {
	s := start(t, embedded.Options{})
	dir := t.TempDir()
	if _, err := embedded.Start(embedded.Options{Dir: dir, Addr: s.Addr()}); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Fatal(err)
	}
	start(t, embedded.Options{Dir: dir})
}

// The changes that the master refuses, with HBase's classes.
func TestRefusedChanges(t *testing.T) {
	s := start(t, embedded.Options{})
	create(t, s.Addr(), "t", nil, family("e"))
	m := dial(t, s.Addr(), "MasterService")
	schema := func(table string, fs ...*hbasepb.ColumnFamilySchema) *hbasepb.TableSchema {
		return &hbasepb.TableSchema{TableName: tableNamed(table), ColumnFamilies: fs}
	}
	for _, k := range []struct {
		method string
		q      proto.Message
		class  string
	}{
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: schema("t", family("e"))}, hbase + "TableExistsException"},
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: schema("n")}, hbase + "DoNotRetryIOException"},
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: schema("-n", family("e"))}, "java.lang.IllegalArgumentException"},
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: schema("n", family("e:"))}, "java.lang.IllegalArgumentException"},
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: schema("n", family("e"), family("e"))}, "java.lang.IllegalArgumentException"},
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: schema("n", family("e", "VERSIONS", "0"))}, hbase + "DoNotRetryIOException"},
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: schema("n", family("e", "NEW_VERSION_BEHAVIOR", "true"))}, hbase + "DoNotRetryIOException"},
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: schema("n", family("e")), SplitKeys: [][]byte{[]byte("a"), []byte("a")}}, "java.lang.IllegalArgumentException"},
		{"CreateTable", &hbasepb.CreateTableRequest{TableSchema: &hbasepb.TableSchema{TableName: &hbasepb.TableName{Namespace: []byte("none"), Qualifier: []byte("n")}}}, hbase + "NamespaceNotFoundException"},
		{"DeleteTable", &hbasepb.DeleteTableRequest{TableName: tableNamed("n")}, hbase + "TableNotFoundException"},
		{"DeleteTable", &hbasepb.DeleteTableRequest{TableName: tableNamed("t")}, hbase + "TableNotDisabledException"},
		{"truncateTable", &hbasepb.TruncateTableRequest{TableName: tableNamed("t")}, hbase + "TableNotDisabledException"},
		{"EnableTable", &hbasepb.EnableTableRequest{TableName: tableNamed("t")}, hbase + "TableNotDisabledException"},
		{"AddColumn", &hbasepb.AddColumnRequest{TableName: tableNamed("t"), ColumnFamilies: family("e")}, hbase + "InvalidFamilyOperationException"},
		{"ModifyColumn", &hbasepb.ModifyColumnRequest{TableName: tableNamed("t"), ColumnFamilies: family("f")}, hbase + "InvalidFamilyOperationException"},
		{"DeleteColumn", &hbasepb.DeleteColumnRequest{TableName: tableNamed("t"), ColumnName: []byte("f")}, hbase + "InvalidFamilyOperationException"},
		{"DeleteColumn", &hbasepb.DeleteColumnRequest{TableName: tableNamed("t"), ColumnName: []byte("e")}, hbase + "DoNotRetryIOException"},
		{"CreateNamespace", &hbasepb.CreateNamespaceRequest{NamespaceDescriptor: &hbasepb.NamespaceDescriptor{Name: []byte("default")}}, hbase + "NamespaceExistException"},
		{"DeleteNamespace", &hbasepb.DeleteNamespaceRequest{NamespaceName: proto.String("none")}, hbase + "NamespaceNotFoundException"},
		{"DeleteNamespace", &hbasepb.DeleteNamespaceRequest{NamespaceName: proto.String("default")}, hbase + "constraint.ConstraintException"},
	} {
		_, err := m.call(k.method, k.q, &hbasepb.CreateTableResponse{}, nil)
		if e := exception(err); e.GetExceptionClassName() != k.class {
			t.Errorf("%s %v: got %v, want %s", k.method, k.q, err, k.class)
		}
	}
}

// A change requested twice with the same nonce is made once, and its procedure is known afterwards.
func TestProcedures(t *testing.T) {
	s := start(t, embedded.Options{})
	m := dial(t, s.Addr(), "MasterService")
	q := &hbasepb.CreateTableRequest{TableSchema: &hbasepb.TableSchema{TableName: tableNamed("t"), ColumnFamilies: []*hbasepb.ColumnFamilySchema{family("e")}}, NonceGroup: proto.Uint64(1), Nonce: proto.Uint64(2)}
	first, second := &hbasepb.CreateTableResponse{}, &hbasepb.CreateTableResponse{}
	m.must("CreateTable", q, first, nil)
	m.must("CreateTable", q, second, nil)
	if first.GetProcId() != second.GetProcId() {
		t.Fatal(first, second)
	}
	for id, want := range map[uint64]hbasepb.GetProcedureResultResponse_State{first.GetProcId(): hbasepb.GetProcedureResultResponse_FINISHED, 99: hbasepb.GetProcedureResultResponse_NOT_FOUND} {
		r := &hbasepb.GetProcedureResultResponse{}
		m.must("getProcedureResult", &hbasepb.GetProcedureResultRequest{ProcId: &id}, r, nil)
		if r.GetState() != want {
			t.Errorf("procedure %d: %v", id, r)
		}
	}
}

// The cells of a dropped family or table do not reappear when one with the same name is created. Truncating keeps the splits if requested.
func TestDroppedCellsStayAway(t *testing.T) {
	s := start(t, embedded.Options{})
	names := create(t, s.Addr(), "t", []string{"m"}, family("e"), family("f"))
	m, c := dial(t, s.Addr(), "MasterService"), dial(t, s.Addr(), "ClientService")
	count := func() (n int) {
		for _, name := range regionsOf(t, s.Addr(), "t") {
			n += len(scanCells(t, c, name))
		}
		return n
	}
	fill := func() {
		for i, name := range names {
			row := string([]byte{'a' + byte(i)*20})
			c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf(row, 2)}, &hbasepb.MutateResponse{}, block(cell(row, "e", "q", 1, 4, "v"), cell(row, "f", "q", 1, 4, "v")))
		}
	}
	fill()
	m.must("DeleteColumn", &hbasepb.DeleteColumnRequest{TableName: tableNamed("t"), ColumnName: []byte("f")}, &hbasepb.DeleteColumnResponse{}, nil)
	m.must("AddColumn", &hbasepb.AddColumnRequest{TableName: tableNamed("t"), ColumnFamilies: family("f")}, &hbasepb.AddColumnResponse{}, nil)
	if n := count(); n != 2 {
		t.Fatalf("%d cells after a family was dropped and made again", n)
	}
	disable := &hbasepb.DisableTableRequest{TableName: tableNamed("t")}
	m.must("DisableTable", disable, &hbasepb.DisableTableResponse{}, nil)
	m.must("truncateTable", &hbasepb.TruncateTableRequest{TableName: tableNamed("t"), PreserveSplits: proto.Bool(true)}, &hbasepb.TruncateTableResponse{}, nil)
	names = regionsOf(t, s.Addr(), "t")
	if n := count(); n != 0 || len(names) != 2 {
		t.Fatalf("%d cells, regions %q after truncating", n, names)
	}
	fill()
	m.must("DisableTable", disable, &hbasepb.DisableTableResponse{}, nil)
	m.must("DeleteTable", &hbasepb.DeleteTableRequest{TableName: tableNamed("t")}, &hbasepb.DeleteTableResponse{}, nil)
	if left := regionsOf(t, s.Addr(), "t"); len(left) != 0 {
		t.Fatalf("%q in hbase:meta after dropping", left)
	}
	names = create(t, s.Addr(), "t", nil, family("e"), family("f"))
	if n := count(); n != 0 {
		t.Fatalf("%d cells in a new table", n)
	}
}

// Clients before HBase 2.6 flush a table by a procedure of the old kind, and ask until it is done.
func TestFlushOfOlderClients(t *testing.T) {
	s := start(t, embedded.Options{})
	create(t, s.Addr(), "t", nil, family("e"))
	m := dial(t, s.Addr(), "MasterService")
	flush := &hbasepb.ProcedureDescription{Signature: proto.String("flush-table-proc"), Instance: proto.String("t")}
	m.must("ExecProcedure", &hbasepb.ExecProcedureRequest{Procedure: flush}, &hbasepb.ExecProcedureResponse{}, nil)
	done := &hbasepb.IsProcedureDoneResponse{}
	m.must("IsProcedureDone", &hbasepb.IsProcedureDoneRequest{Procedure: flush}, done, nil)
	if !done.GetDone() {
		t.Error("it is not done")
	}
	for _, c := range []struct{ signature, table, class string }{
		{"flush-table-proc", "none", "TableNotFoundException"}, {"rolllog-proc", "t", "DoNotRetryIOException"},
	} {
		other := &hbasepb.ProcedureDescription{Signature: &c.signature, Instance: &c.table}
		_, err := m.call("ExecProcedure", &hbasepb.ExecProcedureRequest{Procedure: other}, &hbasepb.ExecProcedureResponse{}, nil)
		wantException(t, err, hbase+c.class, true)
	}
}
