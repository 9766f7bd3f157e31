package embedded

import (
	"context"
	"regexp"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// masterService is the master's methods: what reads the catalogue is here, what changes tables in tables.go and alter.go,
// namespaces in
// namespaces.go, regions in regions.go.
var masterService = map[string]method{
	"IsMasterRunning":    on(isMasterRunning),
	"getProcedureResult": on(getProcedureResult),

	"CreateTable":   on(createTable),
	"DeleteTable":   on(deleteTable),
	"DisableTable":  on(disableTable),
	"EnableTable":   on(enableTable),
	"truncateTable": on(truncateTable),
	"ModifyTable":   on(modifyTable),
	"AddColumn":     on(addColumn),
	"ModifyColumn":  on(modifyColumn),
	"DeleteColumn":  on(deleteColumn),
	"FlushTable":    on(flushTable),

	"GetSchemaAlterStatus": on(getSchemaAlterStatus),

	"GetTableDescriptors":             on(getTableDescriptors),
	"GetTableNames":                   on(getTableNames),
	"GetTableState":                   on(getTableState),
	"ListTableDescriptorsByNamespace": on(listTableDescriptorsByNamespace),
	"ListTableNamesByNamespace":       on(listTableNamesByNamespace),

	"CreateNamespace":          on(createNamespace),
	"ModifyNamespace":          on(modifyNamespace),
	"DeleteNamespace":          on(deleteNamespace),
	"GetNamespaceDescriptor":   on(getNamespaceDescriptor),
	"ListNamespaces":           on(listNamespaces),
	"ListNamespaceDescriptors": on(listNamespaceDescriptors),

	"GetClusterStatus":   on(getClusterStatus),
	"SetBalancerRunning": on(setBalancerRunning),
	"IsBalancerEnabled":  on(isBalancerEnabled),
	"Balance":            on(balance),

	"SplitRegion":       on(splitTableRegion),
	"MergeTableRegions": on(mergeTableRegions),
	"MoveRegion":        on(moveRegion),
	"AssignRegion":      on(assignRegion),
	"UnassignRegion":    on(unassignRegion),
}

func isMasterRunning(context.Context, *call, *hbasepb.IsMasterRunningRequest) (*hbasepb.IsMasterRunningResponse, error) {
	return &hbasepb.IsMasterRunningResponse{IsMasterRunning: proto.Bool(true)}, nil
}

// match returns the tables whose name the Java regular expression matches as a whole: nil matches all, the empty one none. The
// common part of Java's and Go's syntax is understood.
func (c *cluster) match(expression *string, namespace string, system bool) ([]*table, error) {
	if expression == nil {
		expression = proto.String(".*")
	}
	re, err := regexp.Compile("^(?:" + *expression + ")$")
	if err != nil {
		return nil, final(classIllegalArgument, "regular expression %q: %v", *expression, err)
	}
	var found []*table
	for _, t := range c.sorted() {
		if t.name.namespace == systemNamespace && !system || namespace != "" && t.name.namespace != namespace {
			continue
		}
		if re.MatchString(t.name.String()) || t.name.namespace == defaultNamespace && re.MatchString(defaultNamespace+":"+t.name.qualifier) {
			found = append(found, t)
		}
	}
	return found, nil
}

// describe returns the descriptions of tables.
func (c *cluster) describe(ts []*table) []*hbasepb.TableSchema {
	c.mu.RLock()
	defer c.mu.RUnlock()
	ss := make([]*hbasepb.TableSchema, len(ts))
	for i, t := range ts {
		ss[i] = t.schema
	}
	return ss
}

func names(ts []*table) []*hbasepb.TableName {
	ns := make([]*hbasepb.TableName, len(ts))
	for i, t := range ts {
		ns[i] = t.name.message()
	}
	return ns
}

func getTableDescriptors(_ context.Context, k *call, q *hbasepb.GetTableDescriptorsRequest) (*hbasepb.GetTableDescriptorsResponse, error) {
	c := k.node.cluster
	var ts []*table
	if len(q.TableNames) == 0 {
		var err error
		if ts, err = c.match(q.Regex, q.GetNamespace(), q.GetIncludeSysTables()); err != nil {
			return nil, err
		}
	}
	for _, n := range q.TableNames {
		if t, err := c.find(nameOf(n)); err == nil { // a missing one is left out, as by HBase
			ts = append(ts, t)
		}
	}
	return &hbasepb.GetTableDescriptorsResponse{TableSchema: c.describe(ts)}, nil
}

func getTableNames(_ context.Context, k *call, q *hbasepb.GetTableNamesRequest) (*hbasepb.GetTableNamesResponse, error) {
	ts, err := k.node.cluster.match(q.Regex, q.GetNamespace(), q.GetIncludeSysTables())
	if err != nil {
		return nil, err
	}
	return &hbasepb.GetTableNamesResponse{TableNames: names(ts)}, nil
}

func getTableState(_ context.Context, k *call, q *hbasepb.GetTableStateRequest) (*hbasepb.GetTableStateResponse, error) {
	c := k.node.cluster
	t, err := c.find(nameOf(q.TableName))
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return &hbasepb.GetTableStateResponse{TableState: &hbasepb.TableState{State: t.state.Enum()}}, nil
}

func (c *cluster) inNamespace(name string) ([]*table, error) {
	if _, err := c.namespace(name); err != nil {
		return nil, err
	}
	return c.match(nil, name, true)
}

func listTableDescriptorsByNamespace(_ context.Context, k *call,
	q *hbasepb.ListTableDescriptorsByNamespaceRequest) (*hbasepb.ListTableDescriptorsByNamespaceResponse, error) {
	ts, err := k.node.cluster.inNamespace(q.GetNamespaceName())
	if err != nil {
		return nil, err
	}
	return &hbasepb.ListTableDescriptorsByNamespaceResponse{TableSchema: k.node.cluster.describe(ts)}, nil
}

func listTableNamesByNamespace(_ context.Context, k *call,
	q *hbasepb.ListTableNamesByNamespaceRequest) (*hbasepb.ListTableNamesByNamespaceResponse, error) {
	ts, err := k.node.cluster.inNamespace(q.GetNamespaceName())
	if err != nil {
		return nil, err
	}
	return &hbasepb.ListTableNamesByNamespaceResponse{TableName: names(ts)}, nil
}

func setBalancerRunning(_ context.Context, k *call, q *hbasepb.SetBalancerRunningRequest) (*hbasepb.SetBalancerRunningResponse, error) {
	c := k.node.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.balancing
	c.balancing = q.GetOn()
	return &hbasepb.SetBalancerRunningResponse{PrevBalanceValue: &before}, nil
}

func isBalancerEnabled(_ context.Context, k *call, _ *hbasepb.IsBalancerEnabledRequest) (*hbasepb.IsBalancerEnabledResponse, error) {
	c := k.node.cluster
	c.mu.RLock()
	defer c.mu.RUnlock()
	return &hbasepb.IsBalancerEnabledResponse{Enabled: proto.Bool(c.balancing)}, nil
}
