package serve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/account"
	"brine/mask"
	"brine/query"
	"brine/rowkey"
)

// Access says who may read a table's rows. Reading other people's rows requires a reason, unless all customers may read them. The zero
// Access allows support and the roles above it.
type Access struct {
	Owner  string         // customers read the rows in which this field is their account's owner; empty: customers own none
	Roles  []account.Role // these roles read all rows; empty: support and the roles above it
	Public bool           // anybody may read by a whole key, or by all of it before its first time, at a limited rate
}

// scope is what a caller may do on a route, and which rows of the answer may be shown. The zero scope allows nothing.
type scope struct {
	open  bool
	byKey bool // only what a whole key leads to, at a limited rate
	owned bool // only rows whose owner is the account's
}

// subject is what a route reads: the rows of a table, or rows of another table that they lead to.
type subject struct {
	source, shown *query.Table
	exact         bool     // every request has a whole key, or all of it before its first time
	fields        []string // fields that every request asks by, including the field of its order
	optional      []string // fields that a request may ask by
	words         []string // those of them that are searched by words
	key           bool     // requests ask by a whole key
	many          bool     // a request has several questions
	counts        bool     // the route counts rows and shows none
}

// may is the only place that decides what an account may do, or anybody if id is nil. on is nil for routes that read no rows.
func (s *Server) may(id *account.Identity, least account.Role, on *subject) scope {
	switch {
	case s.opts.Accounts == nil, on == nil && least == anybody:
		return scope{open: true}
	case on == nil:
		return scope{open: id != nil && id.Role.AtLeast(least)}
	}
	source, shown := s.reads(id, on.source), s.reads(id, on.shown)
	got := scope{open: source.open && shown.open, byKey: source.byKey || shown.byKey, owned: source.owned || shown.owned}
	switch {
	case s.asksMasked(id, on):
		return scope{}
	case got.owned && !on.exact && !on.key && s.forced(on) == "":
		return scope{} // it would read other people's rows to find one's own
	case source.owned && !shown.owned && s.forced(on) == "":
		return scope{} // the shown row does not say whose row led to it
	case on.counts && (got.byKey || got.owned && s.forced(on) == ""):
		return scope{} // it would count other people's rows
	case got.byKey && (on.many || !on.exact && !on.key):
		return scope{}
	}
	return got
}

// reads returns which rows of a table a caller may read.
func (s *Server) reads(id *account.Identity, t *query.Table) scope {
	a := s.opts.Access[t.Name]
	named, staff := id != nil && slices.Contains(a.Roles, id.Role), id != nil && id.Role.AtLeast(account.Support)
	switch {
	case named, staff && len(a.Roles) == 0:
		return scope{open: true}
	case a.Owner != "" && id != nil && id.Role == account.Customer && id.Account.Owner != "":
		return scope{open: true, owned: true}
	case a.Public:
		return scope{open: true, byKey: true}
	}
	return scope{}
}

// forced returns the field that is always set to the owner in a customer's questions, or "" if there is none. A field that is searched by
// words does not qualify: "Ann" would also find the rows of "Ann Lee".
func (s *Server) forced(on *subject) string {
	owner := s.opts.Access[on.source.Name].Owner
	if owner != "" && !slices.Contains(on.words, owner) && (slices.Contains(on.fields, owner) || slices.Contains(on.optional, owner)) {
		return owner
	}
	return ""
}

// masks returns the masking rules for a caller.
func (s *Server) masks(id *account.Identity) *mask.Rules {
	if id != nil {
		if rules, ok := s.opts.RoleMasks[id.Role]; ok {
			return rules
		}
	}
	return s.opts.Masks
}

// masked reports whether a field that a table is asked by is masked.
func masked(rules *mask.Rules, t *query.Table, field string) bool {
	return rules.MasksPlace(t.Name, field) || rules.MasksKeyField(t.Name, field) || t.Index != nil && rules.MasksPlace(t.Index.Name, field)
}

// asksMasked reports whether every request of a route asks by something masked. A caller allowed to do so could find the value by trying.
func (s *Server) asksMasked(id *account.Identity, on *subject) bool {
	if s.opts.Accounts == nil {
		return false
	}
	rules, mine := s.masks(id), ""
	if s.reads(id, on.source).owned {
		mine = s.forced(on) // the caller cannot choose it
	}
	return on.key && rules.MasksKey(on.source.Name) ||
		slices.ContainsFunc(on.fields, func(f string) bool { return f != mine && masked(rules, on.source, f) })
}

// viewSubject returns the subject of a view.
func viewSubject(v *query.View, many bool) *subject {
	on := &subject{source: &v.Table, shown: v.Shown(), many: many}
	exact := map[string]bool{}
	for _, p := range v.Parameters() {
		if p.Required {
			on.fields = append(on.fields, p.Field)
			exact[p.Field] = !p.Words && !p.Range
		} else {
			on.optional = append(on.optional, p.Field)
		}
		if p.Words {
			on.words = append(on.words, p.Field)
		}
	}
	for _, f := range v.Table.KeyFields() {
		if f.Type == rowkey.Time {
			if v.Order != "" {
				on.fields = append(on.fields, f.Name)
			}
			break
		}
		on.exact = exact[f.Name]
		if !on.exact {
			break
		}
	}
	return on
}

// tableSubject returns the subject of a table's routes.
func tableSubject(t *query.Table, many bool) *subject {
	return &subject{source: t, shown: t, key: true, many: many}
}

// permit returns an error if the request is not allowed, and sets what of its answer may be shown.
func (c *call) permit() error {
	e := c.endpoint
	c.scope = c.may(c.id, e.role, e.on)
	switch {
	case c.opts.Accounts == nil:
		return nil
	case c.id != nil && c.id.Stale && (c.id.Role != account.Customer || e.on == nil):
		return refuse(noAccounts, "the accounts database is unavailable; only customers already signed in can keep reading for a short while")
	case !c.scope.open && c.id == nil:
		return refuse(unsigned, "sign in, or send an API token")
	case !c.scope.open:
		return refuse(forbidden, "the role "+string(c.id.Role)+" may not do this")
	case e.signedIn && c.id.Token != 0:
		return refuse(forbidden, "an API token may not do this; sign in")
	case e.on == nil:
		return nil
	case c.scope.byKey && !c.public.allow(c.bearer()):
		return refuse(tooMany, "too many requests from this address")
	}
	return c.reasoned()
}

// bearer names the caller by account or, without one, by address.
func (c *call) bearer() string {
	if c.id != nil {
		return "account " + c.id.Account.Name
	}
	return "address " + c.network
}

// reasoned requires a reason, and an audit entry before the answer, for reading other people's rows.
func (c *call) reasoned() error {
	if !c.ofOthers() {
		return nil
	}
	var err error
	if c.reason, err = c.givenReason(); err != nil {
		return err
	}
	if c.owes = c.endpoint.body != nil; c.owes { // the body says what is asked
		return nil
	}
	return c.audit("read", c.asked(), c.reason)
}

// givenReason returns the reason for reading other people's rows.
func (c *call) givenReason() (string, error) {
	reason := strings.TrimSpace(c.r.Header.Get(reasonHeader))
	if reason == "" || len(reason) > maxReason {
		return "", wrong("header."+reasonHeader, fmt.Sprintf("is missing, or longer than %d bytes", maxReason),
			"say why you read rows that are not your own, such as a case number")
	}
	return reason, nil
}

// record writes the audit entry of a request whose body says what is asked, if it is still due.
func (c *call) record(asked string) error {
	if !c.owes {
		return nil
	}
	c.owes = false
	if asked = c.asked() + " " + asked; len(asked) > account.MaxObject {
		return refuse(tooLarge, fmt.Sprintf("the audit records requests of at most %d bytes; split this into several requests",
			account.MaxObject))
	}
	return c.audit("read", asked, c.reason)
}

// ofOthers reports whether the route reads rows that are neither the caller's own nor readable by every customer.
func (c *call) ofOthers() bool {
	on := c.endpoint.on
	customer := &account.Identity{Role: account.Customer}
	forAll := func(t *query.Table) bool { return c.reads(customer, t) == scope{open: true} }
	return c.opts.Accounts != nil && !c.scope.byKey && !c.scope.owned && (!forAll(on.source) || !forAll(on.shown))
}

const (
	reasonHeader = "Brine-Reason"
	maxReason    = 1000
)

// asked returns what a request asks, without what is masked for anybody.
func (c *call) asked() string {
	on := c.endpoint.on
	var out strings.Builder
	out.WriteString(c.r.Method + " " + c.endpoint.path)
	if key := c.r.PathValue("key"); key != "" {
		out.WriteString(" key=" + mask.If(c.opts.Masks.MasksKey(on.source.Name), key))
	}
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		field, _, _ := strings.Cut(name, ".")
		if name != query.PageToken {
			out.WriteString(" " + name + "=" + mask.If(masked(c.opts.Masks, on.source, field), strings.Join(c.values[name], ",")))
		}
	}
	return out.String()
}

// audit commits an audit entry for what the request is about to do. If it fails, the request must not be carried out.
func (c *call) audit(action, object, reason string) error {
	e := account.Entry{Action: action, Object: object, Reason: reason, Address: c.address, Request: requestID(c.r)}
	if c.id != nil {
		e.Account, e.Role = c.id.Account.Name, c.id.Role
	}
	if err := c.opts.Accounts.Audit(c.ctx, e); err != nil {
		return c.away(err)
	}
	return nil
}

// owns reports whether a row may be shown: if only the caller's own rows may, the row's owner field must match.
func (c *call) owns(row *query.Row) bool {
	if !c.scope.owned {
		return true
	}
	shown := c.endpoint.on.shown
	if !c.reads(c.id, shown).owned { // the question has selected the caller's own rows
		return true
	}
	field := c.opts.Access[shown.Name].Owner
	mine := 0
	for _, f := range row.Fields {
		switch {
		case f.Name != field, f.Value.Null(): // a key that only hashes the owner has no value, but a column may
		case fmt.Sprint(query.JSONValue(f.Value)) != c.id.Account.Owner:
			return false
		default:
			mine++
		}
	}
	return mine > 0
}

// closed reports whether the caller may not ask by a field, because it is set from the account or masked.
func (c *call) closed(field string) bool {
	on := c.endpoint.on
	if on == nil || c.opts.Accounts == nil {
		return false
	}
	return c.scope.owned && field == c.forced(on) || slices.Contains(on.optional, field) && masked(c.masks(c.id), on.source, field)
}

// own adds the owner, from the account, to a customer's question.
func (c *call) own(given []query.Given) []query.Given {
	if !c.scope.owned {
		return given
	}
	field := c.forced(c.endpoint.on)
	if field == "" {
		return given
	}
	return append(given, query.Given{Field: field, Values: []string{c.id.Account.Owner}})
}
