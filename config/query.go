package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"brine/account"
	"brine/account/oidc"
	"brine/command"
	"brine/event"
	"brine/indexer"
	"brine/lookup"
	"brine/mask"
	"brine/query"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/serve"
	"brine/sink"
	"brine/sqlconsole"
)

// Query describes the table for reading: its key, each column with the field that a pipeline fills it from, and the index of its rows'
// documents. It returns false while no pipeline writes the table.
func (c *Config) Query(t *Table) (query.Table, bool) {
	out := query.Table{Name: t.Name}
	if len(t.rowKeys) == 0 {
		return out, false
	}
	out.Keys = t.rowKeys
	seen := map[string]bool{}
	for _, r := range writers(c, t.Name) {
		for _, column := range r.columns() {
			if name := fmt.Sprint(column.Family, ":", column.Qualifier, column.Members); !seen[name] {
				seen[name] = true
				out.Columns = append(out.Columns, column)
			}
		}
	}
	markDeleted(&out, indexer.FieldDeleted)
	for _, r := range writers(c, t.Name) {
		markDeleted(&out, r.deleted())
	}
	for _, p := range c.Pipelines {
		if p.rowsOf(t.Name) != nil {
			p.addIndex(t, &out)
		}
		if len(p.Commands.Transitions) > 0 && p.commanded() == t.Name {
			out.State = p.Commands.State
		}
	}
	return out, true
}

// marked returns the family of the empty cell that sink writes for a row without other cells. Queries must read it, or a row of nulls would
// not be seen.
func (r *Rows) marked() string {
	name := r.Empty
	switch {
	case len(r.Set) > 0:
		name = r.Set[0].Name
	case len(r.Pack) > 0:
		name = r.Pack[0].Name
	}
	family, _, _ := strings.Cut(name, ":")
	return family
}

// columns describes a row's columns for reading.
func (r *Rows) columns() []query.Column {
	out := []query.Column{{Family: r.marked()}}
	p := r.pipeline
	for _, column := range r.Set {
		family, qualifier, _ := strings.Cut(column.Name, ":")
		if prefix, ok := column.members(); ok {
			out = append(out, query.Column{Family: family, Qualifier: prefix, Field: column.Field, Members: true})
			continue
		}
		out = append(out, query.Column{Family: family, Qualifier: qualifier, Field: column.Field, Type: p.field(column.Field).eventType()})
	}
	for i := range r.Pack {
		family, qualifier, _ := strings.Cut(r.Pack[i].Name, ":")
		out = append(out, query.Column{Family: family, Qualifier: qualifier, Pack: p.pack(&r.Pack[i])})
	}
	return out
}

// markDeleted sets the field that marks rows as deleted, if a column holds it.
func markDeleted(t *query.Table, field string) {
	is := func(name string, typ event.Type) bool { return name == field && typ == event.Bool }
	for _, c := range t.Columns {
		packed := c.Pack != nil && slices.ContainsFunc(c.Pack.Fields, func(f event.PackedField) bool { return is(f.Field, f.Type) })
		if packed || is(c.Field, c.Type) {
			t.Deleted = field
		}
	}
}

// addIndex adds what the pipeline writes into the index of the table's documents, which is the first that a pipeline names for the table.
func (p *Pipeline) addIndex(t *Table, out *query.Table) {
	for _, d := range p.Documents {
		if cmp.Or(d.Table, p.Rows[0].Table) != t.Name || out.Index != nil && out.Index.Name != d.Index {
			continue
		}
		if out.Index == nil {
			out.Index = &query.Index{Name: d.Index}
			markDeleted(out, d.deleted(p)) // the field that marks the documents also marks the rows
		}
		x, declared := out.Index, p.config.Index(d.Index)
		x.Replaced = x.Replaced || p.Changes != changesPartial
		for _, f := range d.Set {
			if slices.ContainsFunc(x.Fields, func(has query.IndexField) bool { return has.Name == f.Name }) {
				continue
			}
			typ := p.field(f.Field).eventType()
			field := query.IndexField{Name: f.Name, Field: f.Field, Type: keyTypes[typ], Unit: eventkey.Unit(typ),
				Words: declared.field(f.Name).Type == string(indexer.Text)}
			if typ == event.Decimal || typ == event.Bytes { // keys cannot hold them; documents have them as texts
				field.Type, field.Exact = rowkey.Text, true
			}
			x.Fields = append(x.Fields, field)
		}
		if x.Newest == "" {
			at, _ := p.versionFields()
			x.Newest = newest(x, append(t.rowKeys.Newest().Fields(), at))
		}
	}
}

// newest returns the index's date field that is filled from the first time among fields: one of the key, so that answers have the order of
// the table, else the version.
func newest(x *query.Index, fields []string) string {
	for _, name := range fields {
		if i := slices.IndexFunc(x.Fields, func(f query.IndexField) bool { return f.Field == name && f.Type == rowkey.Time }); i >= 0 {
			return x.Fields[i].Name
		}
	}
	return ""
}

// KeyTypes returns the types of what questions can bind in the table's keys: their fields, and the geohash of a place.
func (c *Config) KeyTypes(t *Table) map[string]rowkey.Type {
	types := map[string]rowkey.Type{}
	for _, f := range t.rowKeys.Bindable() {
		types[f.Name] = f.Type
	}
	return types
}

// API returns the options of `brine serve` without the stores: all views, and the tables that pipelines write.
func (c *Config) API() (serve.Options, error) {
	o := serve.Options{Listen: c.Serve.Listen, Hosts: c.Serve.Hosts, Timeout: c.Serve.Timeout, InFlight: c.Serve.InFlight, Masks: c.Mask(),
		Streams:   c.Serve.Streams,
		Encrypted: c.Serve.TLS.Cert != "", PerSecond: float64(c.Serve.PublicRate),
		Access: map[string]serve.Access{}, RoleMasks: map[account.Role]*mask.Rules{}}
	for _, text := range c.Serve.TrustedProxies {
		p, err := proxyNetwork(text)
		if err != nil {
			return o, err
		}
		o.Proxies = append(o.Proxies, p)
	}
	for _, role := range account.Roles {
		o.RoleMasks[role] = c.maskFrom(string(role))
	}
	for _, t := range c.Tables {
		a := serve.Access{Owner: t.Owner, Public: t.Public != ""}
		for _, role := range t.Roles {
			a.Roles = append(a.Roles, account.Role(role))
		}
		o.Access[t.Name] = a
	}
	for _, v := range c.Views {
		asked, err := v.Query(c)
		if err != nil {
			return o, err
		}
		o.Views = append(o.Views, asked)
	}
	for _, t := range c.Tables {
		if read, ok := c.Query(t); ok {
			o.Tables = append(o.Tables, read)
		}
	}
	o.Machines = c.Machines()
	o.Cache = serve.Cache{MaxAge: c.Serve.Cache.MaxAge, Own: c.Serve.Cache.OwnMaxAge, Bytes: int(c.Serve.Cache.Bytes)}
	catalog, err := c.Catalog()
	o.SQL = serve.SQL{Catalog: catalog, Timeout: c.Serve.SQL.Timeout, InFlight: c.Serve.SQL.InFlight}
	return o, err
}

// HasAccounts reports whether the configuration has accounts.
func (c *Config) HasAccounts() bool { return c.Accounts.Connect != "" }

// AccountOptions returns the options of the account store.
func (c *Config) AccountOptions() account.Options {
	a := &c.Accounts
	return account.Options{Connect: a.Connect, User: a.User, Password: a.password, TLS: a.tls,
		SessionIdle: a.SessionIdle, SessionMax: a.SessionMax}
}

// Company returns the provider that signs people in, besides passwords. ok is false if there is none.
func (c *Config) Company() (o oidc.Options, ok bool) {
	s := &c.Accounts.OIDC
	o = oidc.Options{Issuer: s.Issuer, ClientID: s.ClientID, ClientSecret: s.clientSecret, Scopes: s.Scopes, Name: s.Name, TLS: s.tls,
		Redirect: strings.TrimSuffix(s.URL, "/") + serve.CompanyReturn, RoleClaim: s.RoleClaim, NameClaim: s.NameClaim,
		OwnerClaim: s.OwnerClaim, Roles: map[string]account.Role{}}
	for _, r := range s.Roles {
		o.Roles[r.Value] = account.Role(r.Role)
	}
	return o, c.HasAccounts() && s.Issuer != ""
}

// proxyNetwork parses a network, or an address as a network of its own.
func proxyNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// commanded returns the table whose rows the pipeline's commands change.
func (p *Pipeline) commanded() string { return cmp.Or(p.Commands.Table, p.firstTable()) }

// Machines returns the commands of all pipelines.
func (c *Config) Machines() (out []command.Machine) {
	for _, p := range c.Pipelines {
		if len(p.Commands.Transitions) == 0 {
			continue
		}
		table, _ := c.Query(c.Table(p.commanded()))
		out = append(out, p.machine(table))
	}
	return out
}

func (p *Pipeline) machine(table query.Table) command.Machine {
	s := &p.Commands
	version, _ := p.versionFields()
	m := command.Machine{Pipeline: p.Name, Table: table, Topic: p.commandTopic(), Partitioner: command.Partitioner(s.Partitioner),
		RecordKey: s.RecordKey, State: s.State, Version: version, Carried: p.carried(), Schema: p.Schema()}
	m.Elsewhere, m.AnswerWithin = !p.Reads(m.Topic), s.AnswerWithin
	for _, d := range p.Documents {
		if purge := p.config.Index(d.Index).PurgeDeletesAfter; purge > 0 && (m.Purged == 0 || purge < m.Purged) {
			m.Purged = purge
		}
	}
	for i := range s.Transitions {
		t := &s.Transitions[i]
		out := command.Command{Name: t.Name, From: t.From, To: t.To, Roles: t.Roles, Take: t.Take}
		for _, set := range t.Set {
			v, _ := p.field(set.Name).given(set.Value) // already checked
			out.Set = append(out.Set, command.Setting{Field: set.Name, Value: v})
		}
		m.Commands = append(m.Commands, out)
	}
	return m
}

// commandTopic returns the topic of the pipeline's commands, or "" if the pipeline has several and names none for commands.
func (p *Pipeline) commandTopic() string { return cmp.Or(p.Commands.Topic, p.Topic) }

// carried returns the fields, except the version, that every change of the pipeline carries: those of keys, and the record's key.
func (p *Pipeline) carried() (out []string) {
	version, _ := p.versionFields()
	identity := p.Identity()
	for i := range p.Fields {
		f := &p.Fields[i]
		looked := p.KeyFrom.table != nil && slices.ContainsFunc(p.lookedUp(), func(l lookup.Field) bool { return l.Name == f.Name })
		if name := f.Name; name != version && !f.made && !looked && (identity[name] != "" || name == p.Commands.RecordKey) {
			out = append(out, name)
		}
	}
	return out
}

// Query returns the view as queries need it.
func (v *View) Query(c *Config) (query.View, error) {
	out := query.View{Name: v.Name, Order: query.TimeOrder(v.Order), Limit: v.Limit, Families: v.Families, Counts: v.Counts}
	var err error
	if out.Table, err = c.readable(v.Table); err != nil {
		return out, err
	}
	if v.Get != "" {
		get, err := c.readable(v.Get)
		if err != nil {
			return out, err
		}
		out.Get = &get
	}
	for _, list := range []struct {
		texts []string
		args  *[]query.Arg
	}{{v.Where, &out.Where}, {v.Optional, &out.Optional}} {
		for _, text := range list.texts {
			a, err := query.ParseArg(text)
			if err != nil {
				return out, err
			}
			*list.args = append(*list.args, a)
		}
	}
	return out, nil
}

// readable returns a table as queries need it.
func (c *Config) readable(name string) (query.Table, error) {
	t := c.Table(name)
	if t == nil {
		names := make([]string, len(c.Tables))
		for i, t := range c.Tables {
			names[i] = t.Name
		}
		return query.Table{}, &flaw{UnknownTable, "tables has no " + name, didYouMean(name, names, "add it to tables")}
	}
	out, ok := c.Query(t)
	if !ok {
		return out, &flaw{UnknownTable, "no pipeline writes table " + name + ", so the types of its fields are not known",
			"name it in a pipeline's rows"}
	}
	return out, nil
}

// Shown returns the table whose rows the view shows.
func (v *View) Shown(c *Config) *Table { return c.Table(cmp.Or(v.Get, v.Table)) }

// Usage returns how to write a question: waybill=… [at=from..to].
func (v *View) Usage() string {
	var out []string
	for i, text := range append(slices.Clone(v.Where), v.Optional...) {
		name, ranged := strings.CutSuffix(text, "..")
		usage := name + "=…"
		if ranged {
			usage = name + "=from..to"
		}
		if i >= len(v.Where) {
			usage = "[" + usage + "]"
		}
		out = append(out, usage)
	}
	return strings.Join(out, " ")
}

// Catalog returns what SQL statements may name: the tables that pipelines write.
func (c *Config) Catalog() (*sqlconsole.Catalog, error) {
	out := &sqlconsole.Catalog{Masks: c.Mask()}
	for _, t := range c.Tables {
		if read, ok := c.Query(t); ok {
			out.Tables = append(out.Tables, sqlconsole.Table{Table: read, Numbers: c.Versions(t) != Milliseconds,
				Kept: t.kept(), Erases: c.erases(t)})
		}
	}
	for _, v := range c.Views {
		asked, err := v.Query(c)
		if err != nil {
			return nil, err
		}
		out.Views = append(out.Views, asked)
	}
	return out, nil
}

// kept returns what HBase keeps of older versions of cells.
func (t *Table) kept() map[string]sqlconsole.Kept {
	out := map[string]sqlconsole.Kept{}
	for i := range t.Families {
		f := &t.Families[i]
		out[f.Name] = sqlconsole.Kept{Versions: f.Versions, TTL: f.TTL}
	}
	return out
}

// erases names what hides older cells of a table before their time, or returns "" if nothing does.
func (c *Config) erases(t *Table) string {
	for _, p := range c.Pipelines {
		for i := range p.Rows {
			switch r := &p.Rows[i]; {
			case r.Table != t.Name:
			case sink.NullPolicy(r.Nulls).Deletes():
				return "pipeline " + p.Name + " has nulls: " + r.Nulls + ", whose delete markers hide it"
			case r.HardDeletes:
				return "pipeline " + p.Name + " has hard_deletes, whose delete markers hide it"
			case r.TTL != "":
				return "rows of pipeline " + p.Name + " have a ttl"
			}
		}
	}
	return ""
}
