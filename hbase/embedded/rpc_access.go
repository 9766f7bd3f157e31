package embedded

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// accessMethods record who may do what, and how much: Grant, Revoke, GetUserPermissions, and SetQuota, which writes hbase:quota.
//
// What they do not do:
//   - they enforce nothing: everyone may do everything, without limits; use Server.Control for refusals;
//   - there is no table hbase:acl, and superusers are not listed among permissions;
//   - hbase:quota exists once a quota was set; quotas of region servers, the switches for throttles and for exceeding them, and sizes and
//     states of space quotas are not served, nor is HasUserPermissions.
var accessMethods = map[string]method{
	"MasterService.Grant":              on(grant),
	"MasterService.Revoke":             on(revoke),
	"MasterService.GetUserPermissions": on(getUserPermissions),
	"MasterService.SetQuota":           on(setQuota),
}

// recordPermission begins the name of a user's permission record. The scope and the user, in hex, follow; the value is a UserPermission.
const recordPermission = "permission/"

// scopeOf returns the scope of a permission. The scopes of one table begin with its name.
func scopeOf(p *hbasepb.Permission) string {
	switch p.GetType() {
	case hbasepb.Permission_Table:
		t := p.GetTablePermission()
		return tableScope(nameOf(t.GetTableName())) + hex.EncodeToString(t.GetFamily()) + "/" + hex.EncodeToString(t.GetQualifier()) + "/"
	case hbasepb.Permission_Namespace:
		return "n/" + hex.EncodeToString(p.GetNamespacePermission().GetNamespaceName()) + "/"
	}
	return "g/"
}

func tableScope(t tableName) string { return "t/" + hex.EncodeToString([]byte(t.String())) + "/" }

// actionsOf returns a pointer to the actions of a permission.
func actionsOf(p *hbasepb.Permission) *[]hbasepb.Permission_Action {
	switch {
	case p.GetTablePermission() != nil:
		return &p.TablePermission.Action
	case p.GetNamespacePermission() != nil:
		return &p.NamespacePermission.Action
	case p.GetGlobalPermission() != nil:
		return &p.GlobalPermission.Action
	}
	return new([]hbasepb.Permission_Action)
}

// permission returns the record name of a user's permission and its current actions.
func (c *cluster) permission(p *hbasepb.UserPermission) (record string, now []hbasepb.Permission_Action, err error) {
	record = recordPermission + scopeOf(p.GetPermission()) + hex.EncodeToString(p.GetUser())
	raw, err := c.store.Record(record)
	if err != nil || raw == nil {
		return record, nil, err
	}
	m := new(hbasepb.UserPermission)
	err = proto.Unmarshal(raw, m)
	return record, *actionsOf(m.GetPermission()), err
}

// write sets records in one commit; a nil value removes a record.
func (c *cluster) write(records map[string][]byte) error {
	b := c.store.NewBatch()
	for name, value := range records {
		if err := b.SetRecord(name, value); err != nil {
			return errors.Join(err, b.Close())
		}
	}
	return b.CommitSurely(c.ctx)
}

func (c *cluster) setPermission(record string, p *hbasepb.UserPermission, actions []hbasepb.Permission_Action) error {
	if len(actions) == 0 {
		return c.write(map[string][]byte{record: nil})
	}
	m := proto.Clone(p).(*hbasepb.UserPermission)
	slices.Sort(actions)
	*actionsOf(m.GetPermission()) = slices.Compact(actions)
	raw, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return c.write(map[string][]byte{record: raw})
}

func grant(ctx context.Context, k *call, q *hbasepb.GrantRequest) (*hbasepb.GrantResponse, error) {
	c, p := k.node.cluster, q.UserPermission
	_, err := c.changes(ctx, 0, 0, func() error {
		record, now, err := c.permission(p)
		if err != nil {
			return err
		}
		actions := slices.Clone(*actionsOf(p.GetPermission()))
		if q.GetMergeExistingPermissions() {
			actions = append(actions, now...)
		}
		return c.setPermission(record, p, actions)
	})
	return &hbasepb.GrantResponse{}, err
}

func revoke(ctx context.Context, k *call, q *hbasepb.RevokeRequest) (*hbasepb.RevokeResponse, error) {
	c, p := k.node.cluster, q.UserPermission
	_, err := c.changes(ctx, 0, 0, func() error {
		record, now, err := c.permission(p)
		if err != nil {
			return err
		}
		gone, of := *actionsOf(p.GetPermission()), p.GetPermission().GetTablePermission()
		switch {
		case len(gone) == 0:
			return c.write(map[string][]byte{record: nil}) // all
		case len(of.GetFamily()) > 0:
			return nil // HBase does not revoke single actions of a family
		}
		now = slices.DeleteFunc(now, func(a hbasepb.Permission_Action) bool { return slices.Contains(gone, a) })
		return c.setPermission(record, p, now)
	})
	return &hbasepb.RevokeResponse{}, err
}

func getUserPermissions(_ context.Context, k *call, q *hbasepb.GetUserPermissionsRequest) (*hbasepb.GetUserPermissionsResponse, error) {
	scope := "g/"
	switch q.GetType() {
	case hbasepb.Permission_Table:
		scope = tableScope(nameOf(q.TableName))
	case hbasepb.Permission_Namespace:
		scope = "n/" + hex.EncodeToString(q.GetNamespaceName()) + "/"
	}
	response := &hbasepb.GetUserPermissionsResponse{}
	err := k.node.cluster.store.Records(recordPermission+scope, func(_ string, value []byte) error {
		p := new(hbasepb.UserPermission)
		if err := proto.Unmarshal(value, p); err != nil {
			return err
		}
		t := p.GetPermission().GetTablePermission()
		if len(q.GetUserName()) > 0 && string(q.GetUserName()) != string(p.User) ||
			len(q.GetColumnFamily()) > 0 && string(q.GetColumnFamily()) != string(t.GetFamily()) ||
			len(q.GetColumnQualifier()) > 0 && string(q.GetColumnQualifier()) != string(t.GetQualifier()) {
			return nil
		}
		response.UserPermission = append(response.UserPermission, p)
		return nil
	})
	return response, err
}

// forgetPermissions adds the removal of a table's permissions to a batch.
func (c *cluster) forgetPermissions(b *store.Batch, t tableName) error {
	var names []string
	err := c.store.Records(recordPermission+tableScope(t), func(name string, _ []byte) error {
		names = append(names, name)
		return nil
	})
	for _, name := range names {
		err = errors.Join(err, b.SetRecord(name, nil))
	}
	return err
}

// recordQuota begins the name of a quota's record. The row and column of hbase:quota follow, in hex; the value is a Quotas.
const recordQuota = "quota/"

var quotaName = tableName{systemNamespace, "quota"}

// quotaCell returns the row and column of hbase:quota for the subject of a request.
func quotaCell(q *hbasepb.SetQuotaRequest) (row, qualifier string, err error) {
	switch {
	case q.UserName != nil && q.TableName != nil:
		return "u." + q.GetUserName(), "s." + nameOf(q.TableName).String(), nil
	case q.UserName != nil && q.Namespace != nil:
		return "u." + q.GetUserName(), "s." + q.GetNamespace() + ":", nil
	case q.UserName != nil:
		return "u." + q.GetUserName(), "s", nil
	case q.TableName != nil:
		return "t." + nameOf(q.TableName).String(), "s", nil
	case q.Namespace != nil:
		return "n." + q.GetNamespace(), "s", nil
	}
	return "", "", unsupported("quotas of region servers and of groups")
}

func setQuota(ctx context.Context, k *call, q *hbasepb.SetQuotaRequest) (*hbasepb.SetQuotaResponse, error) {
	c := k.node.cluster
	row, qualifier, err := quotaCell(q)
	if err != nil {
		return nil, err
	}
	_, err = c.changes(ctx, 0, 0, func() error { return c.setQuota(q, row, qualifier) })
	return &hbasepb.SetQuotaResponse{}, err
}

func (c *cluster) setQuota(q *hbasepb.SetQuotaRequest, row, qualifier string) error {
	t, err := c.quotas()
	if err != nil {
		return err
	}
	record := recordQuota + hex.EncodeToString([]byte(row+"/"+qualifier))
	raw, err := c.store.Record(record)
	if err != nil {
		return err
	}
	quotas := new(hbasepb.Quotas)
	if err := proto.Unmarshal(raw, quotas); err != nil {
		return err
	}
	apply(quotas, q)
	if raw, err = proto.Marshal(quotas); err != nil {
		return err
	}
	b, kind := c.store.NewBatch(), store.Put
	value := append([]byte(metaMagic), raw...)
	if proto.Size(quotas) == 0 {
		raw, kind, value = nil, store.DeleteColumn, nil
	}
	err = errors.Join(b.SetRecord(record, raw), b.Add(t.space, []byte(row), []byte("q"), []byte(qualifier), c.now(), kind, value))
	if err != nil {
		return errors.Join(err, b.Close())
	}
	return b.CommitSurely(c.ctx)
}

// quotas returns the table hbase:quota, which it creates if missing. The caller holds c.change.
func (c *cluster) quotas() (*table, error) {
	if t, err := c.settled(quotaName); err == nil {
		return t, nil
	}
	err := c.createTable(&hbasepb.TableSchema{TableName: quotaName.message(), ColumnFamilies: []*hbasepb.ColumnFamilySchema{
		{Name: []byte("q")}, {Name: []byte("u")},
	}}, nil)
	if err != nil {
		return nil, err
	}
	return c.settled(quotaName)
}

// apply changes quotas as a request demands.
func apply(quotas *hbasepb.Quotas, q *hbasepb.SetQuotaRequest) {
	if q.GetRemoveAll() {
		proto.Reset(quotas)
	}
	if q.BypassGlobals != nil {
		quotas.BypassGlobals = nil
		if q.GetBypassGlobals() {
			quotas.BypassGlobals = q.BypassGlobals
		}
	}
	if s := q.GetSpaceLimit().GetQuota(); s != nil {
		if quotas.Space = s; s.GetRemove() {
			quotas.Space = nil
		}
	}
	throttle(quotas, q.Throttle)
}

func throttle(quotas *hbasepb.Quotas, r *hbasepb.ThrottleRequest) {
	if r == nil {
		return
	}
	t := cmp.Or(quotas.Throttle, new(hbasepb.Throttle))
	if r.Type == nil {
		t = new(hbasepb.Throttle) // all are removed
	}
	if limit := r.TimedQuota; r.Type != nil {
		switch r.GetType() {
		case hbasepb.ThrottleType_REQUEST_NUMBER:
			t.ReqNum = limit
		case hbasepb.ThrottleType_REQUEST_SIZE:
			t.ReqSize = limit
		case hbasepb.ThrottleType_WRITE_NUMBER:
			t.WriteNum = limit
		case hbasepb.ThrottleType_WRITE_SIZE:
			t.WriteSize = limit
		case hbasepb.ThrottleType_READ_NUMBER:
			t.ReadNum = limit
		case hbasepb.ThrottleType_READ_SIZE:
			t.ReadSize = limit
		}
	}
	if quotas.Throttle = t; proto.Size(t) == 0 {
		quotas.Throttle = nil
	}
}
