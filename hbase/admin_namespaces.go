package hbase

import (
	"context"
	"errors"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
)

// Namespace is a namespace with its settings (quotas, for one), by HBase's own names.
type Namespace struct {
	Name   string
	Config map[string]string
}

// CreateNamespace makes a namespace; it is no error when it exists.
func (c *Client) CreateNamespace(ctx context.Context, name string) error {
	group, nonce := nonces()
	in := &hbasepb.CreateNamespaceRequest{
		NamespaceDescriptor: &hbasepb.NamespaceDescriptor{Name: []byte(name)}, NonceGroup: group, Nonce: nonce,
	}
	var out hbasepb.CreateNamespaceResponse
	err := c.procedure(ctx, "create namespace", name, "CreateNamespace", in, &out)
	if errors.Is(err, remote.ErrNamespaceExists) {
		return nil
	}
	return err
}

// AlterNamespace replaces a namespace's settings.
func (c *Client) AlterNamespace(ctx context.Context, n Namespace) error {
	group, nonce := nonces()
	in := &hbasepb.ModifyNamespaceRequest{
		NamespaceDescriptor: &hbasepb.NamespaceDescriptor{Name: []byte(n.Name), Configuration: settings(n.Config)},
		NonceGroup:          group, Nonce: nonce,
	}
	return c.procedure(ctx, "alter namespace", n.Name, "ModifyNamespace", in, new(hbasepb.ModifyNamespaceResponse))
}

// DeleteNamespace deletes a namespace that has no tables; it is no error when there is none.
func (c *Client) DeleteNamespace(ctx context.Context, name string) error {
	group, nonce := nonces()
	in := &hbasepb.DeleteNamespaceRequest{NamespaceName: &name, NonceGroup: group, Nonce: nonce}
	err := c.procedure(ctx, "delete namespace", name, "DeleteNamespace", in, new(hbasepb.DeleteNamespaceResponse))
	if errors.Is(err, remote.ErrNoNamespace) {
		return nil
	}
	return err
}

// Namespaces lists the namespaces, hbase's own and default among them.
func (c *Client) Namespaces(ctx context.Context) ([]Namespace, error) {
	var out hbasepb.ListNamespaceDescriptorsResponse
	err := c.master(ctx, "list namespaces", "", "ListNamespaceDescriptors", &hbasepb.ListNamespaceDescriptorsRequest{}, &out)
	var found []Namespace
	for _, d := range out.NamespaceDescriptor {
		found = append(found, Namespace{Name: string(d.Name), Config: configOf(d.Configuration)})
	}
	return found, err
}
