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
	"brine/serve"
	"brine/sqlconsole"
)

// Query describes the table as it is read back: its key, each column with the field that a pipeline fills it from, and the
// index whose documents stand beside its rows. It is false while no pipeline writes the table.
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

// marked is the family of the empty cell that sink writes of a row without any other: asked for, or a row of nulls would not be seen.
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

// columns describes a row's columns as they are read back.
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

// markDeleted makes a field the one that marks rows as deleted, if there is a column of it.
func markDeleted(t *query.Table, field string) {
	is := func(name string, typ event.Type) bool { return name == field && typ == event.Bool }
	for _, c := range t.Columns {
		packed := c.Pack != nil && slices.ContainsFunc(c.Pack.Fields, func(f event.PackedField) bool { return is(f.Field, f.Type) })
		if packed || is(c.Field, c.Type) {
			t.Deleted = field
		}
	}
}

// addIndex adds what the pipeline writes into the index of the table's documents: the first that a pipeline names for it.
func (p *Pipeline) addIndex(t *Table, out *query.Table) {
	for _, d := range p.Documents {
		if cmp.Or(d.Table, p.Rows[0].Table) != t.Name || out.Index != nil && out.Index.Name != d.Index {
			continue
		}
		if out.Index == nil {
			out.Index = &query.Index{Name: d.Index}
			markDeleted(out, d.deleted(p)) // what marks the documents marks the rows
		}
		x, declared := out.Index, p.config.Index(d.Index)
		x.Replaced = x.Replaced || p.Changes != changesPartial
		for _, f := range d.Set {
			if slices.ContainsFunc(x.Fields, func(has query.IndexField) bool { return has.Name == f.Name }) {
				continue
			}
			words := declared.field(f.Name).Type == string(indexer.Text)
			x.Fields = append(x.Fields, query.IndexField{Name: f.Name, Field: f.Field, Type: keyType(p, f.Field), Words: words})
		}
		if x.Newest == "" {
			at, _ := p.versionFields()
			x.Newest = newest(x, append(t.rowKeys.Newest().Fields(), at))
		}
	}
}

// newest is the index's date field that is filled from the first of fields that is a time: the key's, so that an answer has
// the order of the table, else the version.
func newest(x *query.Index, fields []string) string {
	for _, name := range fields {
		if i := slices.IndexFunc(x.Fields, func(f query.IndexField) bool { return f.Field == name && f.Type == rowkey.Time }); i >= 0 {
			return x.Fields[i].Name
		}
	}
	return ""
}

// KeyTypes returns the types of what the table's keys can be asked by: their fields, and the geohash of a place.
func (c *Config) KeyTypes(t *Table) map[string]rowkey.Type {
	types := map[string]rowkey.Type{}
	for _, f := range t.rowKeys.Bindable() {
		types[f.Name] = f.Type
	}
	return types
}

// API is what `brine serve` serves of the configuration, without the stores: all views, and the tables that pipelines write.
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

// HasAccounts reports whether there are any.
func (c *Config) HasAccounts() bool { return c.Accounts.Connect != "" }

// AccountOptions say where the accounts are.
func (c *Config) AccountOptions() account.Options {
	a := &c.Accounts
	return account.Options{Connect: a.Connect, User: a.User, Password: a.Password, TLS: a.tls,
		SessionIdle: a.SessionIdle, SessionMax: a.SessionMax}
}

// Company is the provider that signs people in beside their passwords; ok is false where there is none.
func (c *Config) Company() (o oidc.Options, ok bool) {
	s := &c.Accounts.OIDC
	o = oidc.Options{Issuer: s.Issuer, ClientID: s.ClientID, ClientSecret: s.ClientSecret, Scopes: s.Scopes, Name: s.Name, TLS: s.tls,
		Redirect: strings.TrimSuffix(s.URL, "/") + serve.CompanyReturn, RoleClaim: s.RoleClaim, NameClaim: s.NameClaim,
		OwnerClaim: s.OwnerClaim, Roles: map[string]account.Role{}}
	for _, r := range s.Roles {
		o.Roles[r.Value] = account.Role(r.Role)
	}
	return o, c.HasAccounts() && s.Issuer != ""
}

// proxyNetwork reads a network, or an address as the network of it alone.
func proxyNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// commanded is the table whose rows the pipeline's commands change.
func (p *Pipeline) commanded() string { return cmp.Or(p.Commands.Table, p.firstTable()) }

// Machines are the commands of all pipelines.
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
	m.Elsewhere = !p.Reads(m.Topic)
	for _, d := range p.Documents {
		if purge := p.config.Index(d.Index).PurgeDeletesAfter; purge > 0 && (m.Purged == 0 || purge < m.Purged) {
			m.Purged = purge
		}
	}
	for i := range s.Transitions {
		t := &s.Transitions[i]
		out := command.Command{Name: t.Name, From: t.From, To: t.To, Roles: t.Roles, Take: t.Take}
		for _, set := range t.Set {
			v, _ := p.field(set.Name).given(set.Value) // checked
			out.Set = append(out.Set, command.Setting{Field: set.Name, Value: v})
		}
		m.Commands = append(m.Commands, out)
	}
	return m
}

// commandTopic is the topic of the pipeline's commands; empty where it is not said which of several.
func (p *Pipeline) commandTopic() string { return cmp.Or(p.Commands.Topic, p.Topic) }

// carried are the fields that every change of the pipeline carries, but the version: what keys are made of, and that of the record.
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

// Query is the view as it is asked.
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

// readable is a table as it is read back.
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

// Shown is the table whose rows the view shows.
func (v *View) Shown(c *Config) *Table { return c.Table(cmp.Or(v.Get, v.Table)) }

// Usage is how a question is written: waybill=… [at=from..to].
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

// Catalog is what SQL may name of the configuration: the tables that pipelines write.
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

// kept is what HBase keeps of earlier cells.
func (t *Table) kept() map[string]sqlconsole.Kept {
	out := map[string]sqlconsole.Kept{}
	for i := range t.Families {
		f := &t.Families[i]
		out[f.Name] = sqlconsole.Kept{Versions: f.Versions, TTL: f.TTL}
	}
	return out
}

// erases names what hides earlier cells of a table before their time; empty: nothing does.
func (c *Config) erases(t *Table) string {
	for _, p := range c.Pipelines {
		for i := range p.Rows {
			switch r := &p.Rows[i]; {
			case r.Table != t.Name:
			case r.Nulls != "merge":
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
