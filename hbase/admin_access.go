package hbase

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"

	"google.golang.org/protobuf/proto"
)

// Permission is what a user may do: everywhere, in a namespace, or with a table, a family or a column.
type Permission struct {
	User                     string // "@name" for a group
	Namespace                string // or Table; if neither is set, everywhere
	Table, Family, Qualifier string
	Actions                  string // letters as in the shell: R read, W write, X execute coprocessors, C create, A administer
}

// letters lists the actions in the order of their numbers.
const letters = "RWXCA"

func (p *Permission) message() (*hbasepb.UserPermission, error) {
	var actions []hbasepb.Permission_Action
	for _, letter := range p.Actions {
		n := strings.IndexRune(letters, letter)
		if n < 0 {
			return nil, fmt.Errorf("unknown action %q: use %s", letter, letters)
		}
		actions = append(actions, hbasepb.Permission_Action(n))
	}
	m := &hbasepb.UserPermission{User: []byte(p.User), Permission: &hbasepb.Permission{}}
	switch {
	case p.Table != "":
		t := &hbasepb.TablePermission{TableName: locate.TableName(p.Table), Action: actions}
		if p.Family != "" {
			t.Family = []byte(p.Family)
		}
		if p.Qualifier != "" {
			t.Qualifier = []byte(p.Qualifier)
		}
		m.Permission.Type, m.Permission.TablePermission = hbasepb.Permission_Table.Enum(), t
	case p.Namespace != "":
		m.Permission.Type = hbasepb.Permission_Namespace.Enum()
		m.Permission.NamespacePermission = &hbasepb.NamespacePermission{NamespaceName: []byte(p.Namespace), Action: actions}
	default:
		m.Permission.Type = hbasepb.Permission_Global.Enum()
		m.Permission.GlobalPermission = &hbasepb.GlobalPermission{Action: actions}
	}
	return m, nil
}

func permissionOf(m *hbasepb.UserPermission) Permission {
	p := Permission{User: string(m.User)}
	var actions []hbasepb.Permission_Action
	switch of := m.GetPermission(); of.GetType() {
	case hbasepb.Permission_Table:
		t := of.GetTablePermission()
		p.Table, p.Family, p.Qualifier = locate.TableString(t.GetTableName()), string(t.GetFamily()), string(t.GetQualifier())
		actions = t.GetAction()
	case hbasepb.Permission_Namespace:
		p.Namespace, actions = string(of.GetNamespacePermission().GetNamespaceName()), of.GetNamespacePermission().GetAction()
	default:
		actions = of.GetGlobalPermission().GetAction()
	}
	slices.Sort(actions)
	for _, a := range actions {
		if int(a) < len(letters) {
			p.Actions += letters[a : a+1]
		}
	}
	return p
}

// Grant gives a user a permission: in addition to the existing ones if merge is true, otherwise in place of them. The server must have
// access control [hbase.security.authorization].
func (c *Client) Grant(ctx context.Context, p Permission, merge bool) error {
	const op = "grant to"
	m, err := p.message()
	if err != nil {
		return &Error{Op: op, Table: p.User, Attempts: 1, Err: err}
	}
	in := &hbasepb.GrantRequest{UserPermission: m, MergeExistingPermissions: &merge}
	return c.master(ctx, op, p.User, "Grant", in, new(hbasepb.GrantResponse))
}

// Revoke takes the actions of a permission from a user, or all actions there if p.Actions is empty. HBase revokes a permission on a family
// or a column only as a whole.
func (c *Client) Revoke(ctx context.Context, p Permission) error {
	const op = "revoke from"
	m, err := p.message()
	if err != nil {
		return &Error{Op: op, Table: p.User, Attempts: 1, Err: err}
	}
	return c.master(ctx, op, p.User, "Revoke", &hbasepb.RevokeRequest{UserPermission: m}, new(hbasepb.RevokeResponse))
}

// Permissions lists the permissions on a table, on a namespace, or everywhere, optionally of one user.
func (c *Client) Permissions(ctx context.Context, of Permission) ([]Permission, error) {
	in := &hbasepb.GetUserPermissionsRequest{Type: hbasepb.Permission_Global.Enum()}
	switch {
	case of.Table != "":
		in.Type, in.TableName = hbasepb.Permission_Table.Enum(), locate.TableName(of.Table)
		if of.Family != "" {
			in.ColumnFamily = []byte(of.Family)
		}
		if of.Qualifier != "" {
			in.ColumnQualifier = []byte(of.Qualifier)
		}
	case of.Namespace != "":
		in.Type, in.NamespaceName = hbasepb.Permission_Namespace.Enum(), []byte(of.Namespace)
	}
	if of.User != "" {
		in.UserName = []byte(of.User)
	}
	var out hbasepb.GetUserPermissionsResponse
	err := c.master(ctx, "list permissions of", cmp.Or(of.Table, of.Namespace), "GetUserPermissions", in, &out)
	var found []Permission
	for _, m := range out.UserPermission {
		found = append(found, permissionOf(m))
	}
	slices.SortFunc(found, func(a, b Permission) int {
		return cmp.Or(strings.Compare(a.User, b.User), strings.Compare(a.Family, b.Family), strings.Compare(a.Qualifier, b.Qualifier))
	})
	return found, err
}

// QuotaOf says whom a quota applies to: a user (optionally within one namespace or table), or all users of a namespace or a table.
type QuotaOf struct{ User, Namespace, Table string }

// ThrottleKind is what a Throttle counts.
type ThrottleKind string

// The kinds of throttle.
const (
	Requests     ThrottleKind = "REQUEST_NUMBER"
	RequestBytes ThrottleKind = "REQUEST_SIZE"
	Writes       ThrottleKind = "WRITE_NUMBER"
	WriteBytes   ThrottleKind = "WRITE_SIZE"
	ReadCalls    ThrottleKind = "READ_NUMBER"
	ReadBytes    ThrottleKind = "READ_SIZE"
)

// Throttle limits how much may be done per unit of time.
type Throttle struct {
	Kind    ThrottleKind
	Limit   uint64        // requests or bytes; 0 removes the throttle
	Per     time.Duration // a second (the default), a minute, an hour or a day
	Cluster bool          // limit of all region servers together instead of each one
}

// SpacePolicy is what happens to a table that exceeds its space quota.
type SpacePolicy string

// The space policies.
const (
	NoInserts             SpacePolicy = "NO_INSERTS" // deletes are still allowed
	NoWrites              SpacePolicy = "NO_WRITES"
	NoWritesOrCompactions SpacePolicy = "NO_WRITES_COMPACTIONS"
	DisableWhenFull       SpacePolicy = "DISABLE"
)

// Quota holds the limits of one user, table or namespace.
type Quota struct {
	QuotaOf
	Throttles []Throttle
	Bytes     uint64 // space quota of the tables; 0: not set
	Policy    SpacePolicy
	Unlimited bool // global throttles do not apply
}

var units = map[time.Duration]hbasepb.TimeUnit{
	0: hbasepb.TimeUnit_SECONDS, time.Second: hbasepb.TimeUnit_SECONDS, time.Minute: hbasepb.TimeUnit_MINUTES,
	time.Hour: hbasepb.TimeUnit_HOURS, 24 * time.Hour: hbasepb.TimeUnit_DAYS,
}

func (of QuotaOf) request() *hbasepb.SetQuotaRequest {
	in := &hbasepb.SetQuotaRequest{}
	if of.User != "" {
		in.UserName = &of.User
	}
	if of.Namespace != "" {
		in.Namespace = &of.Namespace
	}
	if of.Table != "" {
		in.TableName = locate.TableName(of.Table)
	}
	return in
}

func (of QuotaOf) String() string {
	return strings.TrimSpace(of.User + " " + cmp.Or(of.Table, of.Namespace))
}

// SetThrottle sets or removes one throttle. The server must have quotas enabled [hbase.quota.enabled].
func (c *Client) SetThrottle(ctx context.Context, of QuotaOf, t Throttle) error {
	const op = "set throttle of"
	kind, known := hbasepb.ThrottleType_value[string(t.Kind)]
	unit, whole := units[t.Per]
	if !known || !whole {
		err := fmt.Errorf("throttle of %q per %v: it must limit one of the known kinds, per second, minute, hour or day", t.Kind, t.Per)
		return &Error{Op: op, Table: of.String(), Attempts: 1, Err: err}
	}
	in := of.request()
	in.Throttle = &hbasepb.ThrottleRequest{Type: hbasepb.ThrottleType(kind).Enum()}
	if t.Limit > 0 {
		scope := hbasepb.QuotaScope_MACHINE
		if t.Cluster {
			scope = hbasepb.QuotaScope_CLUSTER
		}
		in.Throttle.TimedQuota = &hbasepb.TimedQuota{TimeUnit: &unit, SoftLimit: &t.Limit, Scope: &scope}
	}
	return c.master(ctx, op, of.String(), "SetQuota", in, new(hbasepb.SetQuotaResponse))
}

// SetSpaceQuota limits the size of a table, or of all tables of a namespace together; 0 bytes removes the limit.
func (c *Client) SetSpaceQuota(ctx context.Context, of QuotaOf, bytes uint64, policy SpacePolicy) error {
	const op = "set space quota of"
	p, known := hbasepb.SpaceViolationPolicy_value[string(policy)]
	if !known && bytes > 0 {
		return &Error{Op: op, Table: of.String(), Attempts: 1, Err: fmt.Errorf("there is no policy %q", policy)}
	}
	quota := &hbasepb.SpaceQuota{Remove: proto.Bool(bytes == 0)}
	if bytes > 0 {
		quota.SoftLimit, quota.ViolationPolicy = &bytes, hbasepb.SpaceViolationPolicy(p).Enum()
	}
	in := of.request()
	in.SpaceLimit = &hbasepb.SpaceLimitRequest{Quota: quota}
	return c.master(ctx, op, of.String(), "SetQuota", in, new(hbasepb.SetQuotaResponse))
}

const quotaTable = "hbase:quota"

// Quotas lists all quotas, read from the table hbase:quota.
func (c *Client) Quotas(ctx context.Context) ([]Quota, error) {
	var found []Quota
	for row, err := range c.Scan(ctx, quotaTable, Scan{Columns: []Column{{Family: []byte("q")}}}) {
		if isNoTable(err) {
			return nil, nil // no quota was ever set, or the server has quotas disabled
		}
		if err != nil {
			return nil, err
		}
		for _, cell := range row.Cells {
			if q, ok := quotaOf(cell); ok {
				found = append(found, q)
			}
		}
	}
	return found, nil
}

// quotaOf decodes a cell of hbase:quota: the row is u.USER, n.NAMESPACE or t.TABLE; the column is q:s, or for a user also q:s.TABLE or
// q:s.NAMESPACE:; the value is "PBUF" and a Quotas message.
func quotaOf(c Cell) (q Quota, ok bool) {
	kind, name, ok := strings.Cut(string(c.Row), ".")
	within, isSetting := strings.CutPrefix(string(c.Qualifier), "s")
	message, isMessage := strings.CutPrefix(string(c.Value), "PBUF")
	m := new(hbasepb.Quotas)
	if !ok || !isSetting || !isMessage || proto.Unmarshal([]byte(message), m) != nil {
		return q, false
	}
	switch kind {
	case "n":
		q.Namespace = name
	case "t":
		q.Table = name
	case "u":
		q.User = name
		within = strings.TrimPrefix(within, ".")
		if namespace, all := strings.CutSuffix(within, ":"); all {
			q.Namespace = namespace
		} else {
			q.Table = within
		}
	default:
		return q, false
	}
	q.Unlimited, q.Bytes = m.GetBypassGlobals(), m.GetSpace().GetSoftLimit()
	if q.Bytes > 0 {
		q.Policy = SpacePolicy(m.GetSpace().GetViolationPolicy().String())
	}
	t := m.GetThrottle()
	for _, of := range []struct {
		kind ThrottleKind
		q    *hbasepb.TimedQuota
	}{
		{Requests, t.GetReqNum()}, {RequestBytes, t.GetReqSize()}, {Writes, t.GetWriteNum()}, {WriteBytes, t.GetWriteSize()},
		{ReadCalls, t.GetReadNum()}, {ReadBytes, t.GetReadSize()},
	} {
		if of.q == nil {
			continue
		}
		throttle := Throttle{Kind: of.kind, Limit: of.q.GetSoftLimit(), Cluster: of.q.GetScope() == hbasepb.QuotaScope_CLUSTER}
		for per, unit := range units {
			if per > 0 && unit == of.q.GetTimeUnit() {
				throttle.Per = per
			}
		}
		q.Throttles = append(q.Throttles, throttle)
	}
	return q, true
}
