package hbase

import (
	"context"
	"errors"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
)

// Namespace is a namespace and its settings (such as quotas) under HBase's own names.
type Namespace struct {
	Name   string
	Config map[string]string
}

// CreateNamespace creates a namespace. It returns nil if the namespace exists.
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

// AlterNamespace replaces the settings of a namespace.
func (c *Client) AlterNamespace(ctx context.Context, n Namespace) error {
	group, nonce := nonces()
	in := &hbasepb.ModifyNamespaceRequest{
		NamespaceDescriptor: &hbasepb.NamespaceDescriptor{Name: []byte(n.Name), Configuration: settings(n.Config)},
		NonceGroup:          group, Nonce: nonce,
	}
	return c.procedure(ctx, "alter namespace", n.Name, "ModifyNamespace", in, new(hbasepb.ModifyNamespaceResponse))
}

// DeleteNamespace deletes a namespace, which must not have tables. It returns nil if the namespace does not exist.
func (c *Client) DeleteNamespace(ctx context.Context, name string) error {
	group, nonce := nonces()
	in := &hbasepb.DeleteNamespaceRequest{NamespaceName: &name, NonceGroup: group, Nonce: nonce}
	err := c.procedure(ctx, "delete namespace", name, "DeleteNamespace", in, new(hbasepb.DeleteNamespaceResponse))
	if errors.Is(err, remote.ErrNoNamespace) {
		return nil
	}
	return err
}

// Namespaces lists all namespaces, including hbase and default.
func (c *Client) Namespaces(ctx context.Context) ([]Namespace, error) {
	var out hbasepb.ListNamespaceDescriptorsResponse
	err := c.master(ctx, "list namespaces", "", "ListNamespaceDescriptors", &hbasepb.ListNamespaceDescriptorsRequest{}, &out)
	var found []Namespace
	for _, d := range out.NamespaceDescriptor {
		found = append(found, Namespace{Name: string(d.Name), Config: configOf(d.Configuration)})
	}
	return found, err
}
