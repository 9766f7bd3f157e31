package embedded

import (
	"context"
	"regexp"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// catalogueMethods list and describe tables: GetTableDescriptors, GetTableNames, GetTableState, ListTableDescriptorsByNamespace,
// ListTableNamesByNamespace.
//
// What they do not do:
//   - regular expressions are Go's: the syntax that Go and Java share means the same;
//   - hbase:meta is the only system table until a quota is set: there is no hbase:namespace or hbase:acl;
//   - the calls that list tables by state are not served.
var catalogueMethods = map[string]method{
	"MasterService.GetTableDescriptors":             on(getTableDescriptors),
	"MasterService.GetTableNames":                   on(getTableNames),
	"MasterService.GetTableState":                   on(getTableState),
	"MasterService.ListTableDescriptorsByNamespace": on(listTableDescriptorsByNamespace),
	"MasterService.ListTableNamesByNamespace":       on(listTableNamesByNamespace),
}

// match returns the tables whose whole name the regular expression matches: nil matches all, the empty one none. It supports the syntax
// that Java and Go share.
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
		if t, err := c.find(nameOf(n)); err == nil { // a missing one is left out, as in HBase
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
