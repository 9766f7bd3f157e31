package embedded

import (
	"cmp"
	"context"
	"slices"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// namespaceMethods are CreateNamespace, ModifyNamespace, DeleteNamespace, GetNamespaceDescriptor, ListNamespaces and
// ListNamespaceDescriptors.
//
// What they do not do:
//   - a namespace's configuration is stored but has no effect: no quotas are enforced and there are no region server groups;
//   - there is no table hbase:namespace: namespaces are records of the catalogue and, in HBase 3 mode, also rows of hbase:meta; when
//     clients change those rows, no namespace changes.
var namespaceMethods = map[string]method{
	"MasterService.CreateNamespace":          on(createNamespace),
	"MasterService.ModifyNamespace":          on(modifyNamespace),
	"MasterService.DeleteNamespace":          on(deleteNamespace),
	"MasterService.GetNamespaceDescriptor":   on(getNamespaceDescriptor),
	"MasterService.ListNamespaces":           on(listNamespaces),
	"MasterService.ListNamespaceDescriptors": on(listNamespaceDescriptors),
}

func (c *cluster) namespace(name string) (*hbasepb.NamespaceDescriptor, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if d, ok := c.namespaces[name]; ok {
		return d, nil
	}
	return nil, final(classNamespaceNotFound, "%s", name)
}

// saveNamespace writes a namespace's record; nil removes it.
func (c *cluster) saveNamespace(name string, d *hbasepb.NamespaceDescriptor) error {
	var raw []byte
	if d != nil {
		var err error
		if raw, err = proto.Marshal(d); err != nil {
			return err
		}
	}
	b := c.store.NewBatch()
	if err := b.SetRecord(recordNamespace+name, raw); err != nil {
		return err
	}
	if c.opts.three() {
		if err := c.putNamespace(b, name, d); err != nil {
			return err
		}
	}
	if err := b.CommitSurely(c.ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d == nil {
		delete(c.namespaces, name)
	} else {
		c.namespaces[name] = d
	}
	return nil
}

func createNamespace(ctx context.Context, k *call, q *hbasepb.CreateNamespaceRequest) (*hbasepb.CreateNamespaceResponse, error) {
	c, d := k.node.cluster, q.NamespaceDescriptor
	name := string(d.GetName())
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		if wrong := legalTable(tableName{name, "t"}); wrong != "" {
			return final(classIllegalArgument, "%s", wrong)
		}
		if _, err := c.namespace(name); err == nil {
			return final(classNamespaceExists, "%s", name)
		}
		return c.saveNamespace(name, d)
	})
	return &hbasepb.CreateNamespaceResponse{ProcId: id}, err
}

func modifyNamespace(ctx context.Context, k *call, q *hbasepb.ModifyNamespaceRequest) (*hbasepb.ModifyNamespaceResponse, error) {
	c, d := k.node.cluster, q.NamespaceDescriptor
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		if _, err := c.namespace(string(d.GetName())); err != nil {
			return err
		}
		return c.saveNamespace(string(d.GetName()), d)
	})
	return &hbasepb.ModifyNamespaceResponse{ProcId: id}, err
}

func deleteNamespace(ctx context.Context, k *call, q *hbasepb.DeleteNamespaceRequest) (*hbasepb.DeleteNamespaceResponse, error) {
	c, name := k.node.cluster, q.GetNamespaceName()
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		ts, err := c.inNamespace(name)
		switch {
		case err != nil:
			return err
		case name == defaultNamespace || name == systemNamespace:
			return final(classConstraint, "Reserved namespace %s cannot be removed.", name)
		case len(ts) > 0:
			return final(classConstraint, "Only empty namespaces can be removed. Namespace %s has %d tables", name, len(ts))
		}
		return c.saveNamespace(name, nil)
	})
	return &hbasepb.DeleteNamespaceResponse{ProcId: id}, err
}

func getNamespaceDescriptor(_ context.Context, k *call, q *hbasepb.GetNamespaceDescriptorRequest) (*hbasepb.GetNamespaceDescriptorResponse,
	error) {
	d, err := k.node.cluster.namespace(q.GetNamespaceName())
	return &hbasepb.GetNamespaceDescriptorResponse{NamespaceDescriptor: d}, err
}

func (c *cluster) sortedNamespaces() []*hbasepb.NamespaceDescriptor {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var ds []*hbasepb.NamespaceDescriptor
	for _, d := range c.namespaces {
		ds = append(ds, d)
	}
	slices.SortFunc(ds, func(a, b *hbasepb.NamespaceDescriptor) int { return cmp.Compare(string(a.Name), string(b.Name)) })
	return ds
}

func listNamespaces(_ context.Context, k *call, _ *hbasepb.ListNamespacesRequest) (*hbasepb.ListNamespacesResponse, error) {
	r := &hbasepb.ListNamespacesResponse{}
	for _, d := range k.node.cluster.sortedNamespaces() {
		r.NamespaceName = append(r.NamespaceName, string(d.Name))
	}
	return r, nil
}

func listNamespaceDescriptors(_ context.Context, k *call,
	_ *hbasepb.ListNamespaceDescriptorsRequest) (*hbasepb.ListNamespaceDescriptorsResponse, error) {
	return &hbasepb.ListNamespaceDescriptorsResponse{NamespaceDescriptor: k.node.cluster.sortedNamespaces()}, nil
}
