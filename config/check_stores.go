package config

import (
	"crypto/tls"
	"net/url"
	"os"
	"strconv"
	"strings"

	"brine/internal/certs"
	"brine/serve"
)

func (l *loader) checkHTTP(h *HTTP) {
	const longest = 104 // limit of a socket path in bytes, on the systems with the lowest
	path, local := strings.CutPrefix(h.Listen, "unix:")
	fix := hostPort(h.Listen, false)
	switch {
	case local && path == "":
		l.fault("http.listen", Address, "names no socket", "write unix:/run/brine/admin.sock")
	case local && len(path) >= longest:
		l.fault("http.listen", Address, "names a socket with a path longer than 103 bytes", "write a shorter path")
	case h.Listen != "" && !local && fix != "":
		l.fault("http.listen", Address, "is not a valid listen address", fix)
	}
	l.checkHosts("http.hosts", h.Hosts)
	l.checkPortTLS("http.tls", &h.TLS)
	h.token = l.followed("http.token", tokens.MatchString)
	if h.Token != "" && !tokens.MatchString(h.Token) {
		l.fault("http.token", Name, "is not a valid token",
			"write at least 16 visible ASCII characters, without spaces, as openssl rand -hex 32 prints them")
	}
}

// checkPortTLS checks a port's files. The port itself reads them again when it opens.
func (l *loader) checkPortTLS(setting string, t *PortTLS) {
	l.together(setting, "cert", "key")
	l.together(setting, "key", "cert")
	l.together(setting, "client_ca", "cert")
	l.checkCA(setting+".client_ca", t.ClientCA)
	l.checkFiles(setting, certs.Files{Cert: t.Cert, Key: t.Key})
}

func (l *loader) checkHosts(setting string, names []string) {
	for i, name := range names {
		if !hostNames.MatchString(name) {
			l.fault(setting+"["+strconv.Itoa(i)+"]", Name, "is not a valid host name",
				"write the name alone, without a port, or *.NAME for every name below it")
		}
	}
}

func (l *loader) checkServe(c *Config) {
	s := &c.Serve
	const setting = "serve.listen"
	fix := hostPort(s.Listen, false)
	switch {
	case s.Listen == "":
	case fix != "":
		l.fault(setting, Address, "is not a valid listen address", fix)
	default:
		l.checkReach(c, setting, s.Listen)
	}
	l.checkHosts("serve.hosts", s.Hosts)
	l.checkPortTLS("serve.tls", &s.TLS)
	for i, text := range s.TrustedProxies {
		if _, err := proxyNetwork(text); err != nil {
			l.fault("serve.trusted_proxies["+strconv.Itoa(i)+"]", Address, "is not a valid network", "write 10.0.0.0/24, or an address")
		}
	}
	if fix := hostPort(s.Ops.Listen, false); s.Ops.Listen != "" && fix != "" {
		l.fault("serve.ops.listen", Address, "is not a valid listen address", fix)
	} else if s.Ops.Listen != "" {
		l.checkReach(c, "serve.ops.listen", s.Ops.Listen)
	}
	l.checkAccounts(&c.Accounts)
}

// checkReach checks that a port that other machines can reach authenticates its callers and receives no passwords in plain text.
func (l *loader) checkReach(c *Config, setting, addr string) {
	switch {
	case serve.Loopback(addr):
	case !c.HasAccounts():
		l.fault(setting, Address, "can be reached from other machines, which requires accounts",
			"write accounts: { connect: \"embedded:./data/accounts\" }, or an address that only this machine can reach, such as "+
				serve.DefaultListen)
	case c.Serve.TLS.Cert == "" && len(c.Serve.TrustedProxies) == 0:
		l.fault(setting, Address, "can be reached from other machines, and passwords would arrive in plain text",
			"write serve.tls: { cert: …, key: … }, or serve.trusted_proxies if a proxy in front of it terminates TLS")
	}
}

func (l *loader) checkAccounts(a *Accounts) {
	const setting = "accounts.connect"
	dir, embedded := strings.CutPrefix(a.Connect, "embedded:")
	switch {
	case a.Connect == "":
		return
	case embedded && (dir == "" || strings.HasPrefix(dir, "//")):
		l.fault(setting, Address, "names no folder", "write embedded:./data/accounts")
	case !embedded:
		u, err := url.Parse(a.Connect)
		if err != nil || u.Scheme != "mysql" || u.Hostname() == "" || strings.Trim(u.Path, "/") == "" || u.RawQuery != "" {
			l.fault(setting, Address, "does not name a database that brine supports", "write embedded:DIR or mysql://host:port/database")
		} else if u.User != nil {
			l.fault(setting, Address, "contains a user name or password", "give them as accounts.user and accounts.password: ${ACCOUNTS_PASSWORD}")
		}
	}
	l.together("accounts", "password", "user")
	a.password = l.secret("accounts.password", a.Password)
	if a.CA == "system" {
		a.tls = func() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS12} }
	} else if a.CA != "" {
		a.tls = l.following("accounts", certs.Files{CA: a.CA}, "")
	}
	l.checkOIDC(a)
	if a.SessionIdle > a.SessionMax {
		l.fault("accounts.session_idle", Range, "is more than session_max, which is "+DurationText(a.SessionMax),
			"shorten it, or lengthen session_max")
	}
}

func (l *loader) checkOIDC(a *Accounts) {
	const at = "accounts.oidc"
	o := &a.OIDC
	if o.Issuer == "" {
		return
	}
	for name, text := range map[string]string{"issuer": o.Issuer, "url": o.URL} {
		u, err := url.Parse(text)
		local := err == nil && u.Scheme == "http" && (u.Hostname() == "localhost" || serve.Loopback(u.Host+":0") || serve.Loopback(u.Host))
		switch {
		case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && !local:
			l.fault(at+"."+name, Address, "is not a valid address", "write https://login.example.com")
		case u.User != nil:
			l.fault(at+"."+name, Address, "contains a user name or password", "give accounts.oidc.client_id and client_secret")
		}
	}
	if o.ClientID == "" {
		l.fault(at+".client_id", Missing, "is missing", "register brine as a client at the provider, and write its id")
	}
	if len(o.Roles) == 0 {
		l.fault(at+".roles", Missing, "is missing, so nobody would have a role",
			"write roles: { order-desk: support }, by values of the claim "+o.RoleClaim)
	}
	for _, r := range o.Roles {
		if r.Role == "customer" && o.OwnerClaim == "" {
			l.fault(at+".owner_claim", Missing, "is missing, so customers would own no row",
				"name a claim that users cannot change themselves, such as customer_number")
			break
		}
	}
	o.clientSecret = l.secret(at+".client_secret", o.ClientSecret)
	if o.CA != "system" {
		o.tls = l.following(at, certs.Files{CA: o.CA}, "")
	}
}

func (l *loader) checkTracing(to string) {
	if path, isFile := strings.CutPrefix(to, "file:"); to == "" || to == "stdout" || isFile && path != "" {
		return
	}
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		l.fault("tracing.to", Address, "is not a valid destination for spans", "write http://host:4318, file:PATH or stdout")
	} else if u.User != nil {
		l.fault("tracing.to", Address, "contains a user name or password, but brine sends none to a collector", "write http://host:4318")
	}
}

func (l *loader) checkCluster(h *HBase) {
	l.checkHBase(h.Connect)
	l.checkHBaseTLS(h)
	l.checkHBaseKerberos(h)
	l.checkRetries("hbase.retries", h.Retries)
	if h.OperationTimeout < h.RPCTimeout && l.has("hbase.operation_timeout") {
		l.fault("hbase.operation_timeout", Range, "is less than rpc_timeout, which is "+DurationText(h.RPCTimeout),
			"one operation takes at least one call")
	}
}

func (l *loader) checkHBase(connect string) {
	const setting = "hbase.connect"
	scheme, rest, _ := strings.Cut(strings.TrimPrefix(connect, "hbase+"), ":") // the prefix is how HBase 3 writes URLs
	hosts, slashes := strings.CutPrefix(rest, "//")
	switch {
	case connect == "":
	case scheme == "embedded" && !strings.HasPrefix(connect, "hbase+"):
		if rest == "" || slashes {
			l.fault(setting, Address, "names no folder", "write embedded:./data/hbase")
		}
	case scheme == "zk" && slashes:
		servers, _, _ := strings.Cut(hosts, "/")
		l.checkHBaseHosts(servers, ":2181", "is not a valid ZooKeeper address", "write zk://host:port,host:port/znode")
	case scheme == "rpc" && slashes:
		l.checkHBaseHosts(hosts, ":16000", "is not a valid master address", "write rpc://host:port, with commas between several masters")
	default:
		l.fault(setting, Address, "has an unknown scheme",
			"write rpc://host:port or zk://host:port/znode for a cluster, or embedded:DIR")
	}
}

// checkHBaseTLS checks the section. The client itself reads the files again.
func (l *loader) checkHBaseTLS(h *HBase) {
	const setting = "hbase.tls"
	t := &h.TLS
	zooKeeper := strings.HasPrefix(strings.TrimPrefix(h.Connect, "hbase+"), "zk:")
	if t.ZooKeeper && !zooKeeper {
		l.fault(setting+".zookeeper", Missing, "does nothing unless hbase.connect names ZooKeeper servers", "remove it")
	}
	if h.ZooKeeperAuth != "" && (!zooKeeper || !strings.Contains(h.ZooKeeperAuth, ":")) {
		l.fault("hbase.zookeeper_auth", Missing, "is for ZooKeeper servers in hbase.connect, as user:password",
			"write user:password, or remove it")
	}
	if !l.wantsTLS(setting, t.Enabled, t.CA+t.Cert+t.Key+t.ServerName) {
		return
	}
	if _, embedded := h.Embedded(); embedded {
		l.fault(setting, Missing, "does nothing for an HBase inside this process", "remove it, or name a cluster in hbase.connect")
		return
	}
	l.checkFiles(setting, certs.Files{CA: t.CA, Cert: t.Cert, Key: t.Key})
}

// checkHBaseKerberos checks the section. The client itself reads the files.
func (l *loader) checkHBaseKerberos(h *HBase) {
	const setting = "hbase.kerberos"
	k := &h.Kerberos
	_, embedded := h.Embedded()
	switch {
	case k.Keytab+k.TicketCache == "":
		for _, name := range []string{"principal", "krb5_conf", "server_principal", "qop"} {
			if l.has(setting + "." + name) {
				l.fault(setting+"."+name, Missing, "does nothing without keytab or ticket_cache", "write keytab: /etc/brine/brine.keytab")
				return
			}
		}
		return
	case embedded:
		l.fault(setting, Missing, "does nothing for an HBase inside this process", "remove it, or name a cluster in hbase.connect")
		return
	}
	l.checkKerberosFiles(setting, k.Principal, k.Keytab, k.TicketCache, k.Krb5Conf)
}

// checkKerberosFiles checks the principal and the files it logs in with. At least one of keytab and ticketCache is set.
func (l *loader) checkKerberosFiles(setting, principal, keytab, ticketCache, krb5Conf string) {
	switch {
	case keytab != "" && ticketCache != "":
		l.fault(setting+".ticket_cache", Missing, "is set together with keytab", "keep one of the two")
	case keytab != "" && principal == "":
		l.fault(setting, Missing, "principal is missing, and a keytab may hold keys of several principals", "write principal: brine@EXAMPLE.COM")
	}
	for _, f := range []struct{ name, file string }{{"keytab", keytab}, {"krb5_conf", krb5Conf}} { // a ticket cache may be created later
		if f.file == "" {
			continue
		}
		file, err := os.Open(f.file)
		if err != nil {
			l.fault(setting+"."+f.name, Unreadable, err.Error(), "name a file that brine's user can read")
			continue
		}
		_ = file.Close() // the file only had to open
	}
}

// checkHBaseHosts checks addresses that may omit the port, which then is HBase's default.
func (l *loader) checkHBaseHosts(hosts, port, fault, fix string) {
	for host := range strings.SplitSeq(hosts, ",") {
		if !strings.Contains(host, ":") && host != "" {
			host += port
		}
		if hostPort(strings.TrimSpace(host), true) != "" {
			shown := quote(host)
			if l.fromEnvironment("hbase.connect") {
				shown = "an address in it"
			}
			l.fault("hbase.connect", Address, shown+" "+fault, fix)
		}
	}
}

func (l *loader) checkSearch(s *Search) {
	const setting = "search.connect"
	if dir, embedded := strings.CutPrefix(s.Connect, "embedded:"); embedded {
		if dir == "" || strings.HasPrefix(dir, "//") {
			l.fault(setting, Address, "names no folder", "write embedded:./data/search")
		}
	} else if s.Connect != "" {
		for node := range strings.SplitSeq(s.Connect, ",") {
			u, err := url.Parse(strings.TrimSpace(node))
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
				l.fault(setting, Address, "is not a valid search engine URL", "write http://host:9200, https://host:9200 or embedded:DIR")
				break
			} else if u.User != nil {
				l.fault(setting, Address, "contains a user name or password", "give them as search.user and search.password: ${SEARCH_PASSWORD}")
				break
			}
		}
	}
	if s.CA != "" {
		s.tls = l.following("search", certs.Files{CA: s.CA}, "")
	}
	s.secrets = l.secrets("search.password", "search.api_key", s.Password, s.APIKey)
	l.together("search", "password", "user")
	l.together("search", "user", "password")
	if s.APIKey != "" && s.User != "" {
		l.fault("search.api_key", Duplicate, "both a user and an API key are set", "keep one of the two")
	}
	if s.Pause > s.MaxPause && s.MaxPause > 0 {
		l.fault("search.pause", Range, "is more than search.max_pause, which is "+DurationText(s.MaxPause),
			"write a shorter pause, or a longer max_pause")
	}
}

func (l *loader) checkRegistry(r *Registry) {
	const setting = "registry"
	if r.URL == "" {
		if l.has(setting) && !l.has(setting+".url") {
			l.fault(setting, Missing, "names no registry", "write url: http://localhost:8081")
		}
		return
	}
	secure := l.checkRegistryURLs(r)
	r.secrets = l.secrets(setting+".password", setting+".token", r.Password, r.Token)
	l.together(setting, "password", "user")
	l.together(setting, "user", "password")
	l.together(setting+".tls", "cert", "key")
	l.together(setting+".tls", "key", "cert")
	if r.Token != "" && r.User != "" {
		l.fault(setting+".token", Duplicate, "both a user and a token are set", "keep one of the two")
	}
	if r.Token != "" && !visible(r.Token) {
		l.fault(setting+".token", Name, "contains spaces or characters that an HTTP header cannot hold", "write the token alone")
	}
	if t := &r.TLS; t.CA+t.Cert+t.Key+t.ServerName != "" {
		if !secure {
			l.fault(setting+".tls", Missing, "does nothing for an http:// URL", "write https:// in registry.url")
			return
		}
		r.tls = l.following(setting+".tls", certs.Files{CA: t.CA, Cert: t.Cert, Key: t.Key}, t.ServerName)
	}
}

// checkRegistryURLs checks the URLs and reports whether all of them are https.
func (l *loader) checkRegistryURLs(r *Registry) (secure bool) {
	const setting = "registry.url"
	secure = true
	open := false
	for text := range strings.SplitSeq(r.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
			l.fault(setting, Address, "is not a valid URL of a registry",
				"write http://host:8081, or http://host:8080/apis/ccompat/v7 for an Apicurio")
			return secure
		case u.User != nil:
			l.fault(setting, Address, "contains a user name or password", "give them as registry.user and registry.password: ${REGISTRY_PASSWORD}")
			return secure
		case strings.HasSuffix(r.Framing, "_global") && !strings.Contains(u.Path, "/apis/ccompat/v"):
			l.fault(setting, Address, "is not the URL of an Apicurio's ccompat API, which brine needs to look up a globalId",
				"write http://host:8080/apis/ccompat/v7, or another registry.framing")
			return secure
		}
		secure = secure && u.Scheme == "https"
		open = open || u.Scheme == "http" && !loopback(u.Hostname())
	}
	if open && r.Password+r.Token != "" {
		l.warn(setting, OpenPassword, "the password or token is sent in plain text over connections that are not encrypted", "write https://")
	}
	return secure
}

// visible reports whether s consists of visible ASCII characters.
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (l *loader) checkStores(c *Config, p *Pipeline, setting string) {
	if len(p.Rows) > 0 && c.Cluster.Connect == "" && !l.has("hbase.connect") {
		l.fault(setting+".rows", NoStore, "rows need an HBase, but hbase.connect is missing",
			"write hbase: { connect: \"rpc://localhost:16000\" }")
	}
	if len(p.Documents) > 0 && c.Search.Connect == "" && !l.has("search.connect") {
		l.fault(setting+".documents", NoStore, "documents need a search engine, but search.connect is missing",
			"write search: { connect: \"http://localhost:9200\" }")
	}
	if len(p.Documents) > 0 && len(p.Rows) == 0 {
		l.fault(setting+".documents", NothingToWrite, "a document's id comes from its row's key, but the pipeline has no rows",
			"add rows to the pipeline")
	}
}

// checkMap checks the table for the maps' history.
func (l *loader) checkMap(c *Config) {
	const setting = "map.history"
	switch name := c.Map.History; {
	case name == "":
	case !tableName(name):
		l.fault(setting, Name, "is not a valid table name", "write history: brine:maps")
	case c.Table(name) != nil:
		l.fault(setting, Duplicate, "names a table that pipelines write", "name a table that only brine uses: history: brine:maps")
	}
}
