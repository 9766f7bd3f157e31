package config

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// fewRetries: with HBase's back-off table fewer retries end within a second, before a region has moved.
const fewRetries = 3

// check finds what is wrong between settings that are right each by itself.
func (l *loader) check(c *Config) {
	l.checkAddresses(c)
	l.checkRetries("hbase.retries", c.Cluster.Retries)
	c.bind()
	for _, p := range c.Pipelines {
		l.checkPipeline(c, p)
	}
	for _, t := range c.Tables {
		l.checkTable(c, t)
		l.checkKeyFields(c, t)
	}
	for _, p := range c.Pipelines {
		l.checkKeyFrom(c, p)
	}
	for _, x := range c.Indexes {
		l.checkIndex(x)
		l.checkParts(c, x)
		l.checkRouting(c, x)
		l.checkPurge(c, x)
	}
	l.checkMemory(c)
	if l.problems.Err() == nil { // else what is used cannot be told
		l.checkUse(c)
		l.checkAlike(c)
		for _, v := range c.Views {
			l.checkView(c, v)
		}
	}
}

func (l *loader) checkAddresses(c *Config) {
	l.checkKafka(&c.Kafka)
	l.checkHTTP(&c.HTTP)
	l.checkTracing(c.Tracing.To)
	l.checkHBase(c.Cluster.Connect)
	if h := &c.Cluster; h.OperationTimeout < h.RPCTimeout && l.has("hbase.operation_timeout") {
		l.fault("hbase.operation_timeout", Range, "is less than rpc_timeout, which is "+DurationText(h.RPCTimeout), "one operation takes at least one call")
	}
	l.checkSearch(&c.Search)
	c.Search.answer = int64(max(c.Memory/2, 2*leastAnswer))
}

func (l *loader) checkHTTP(h *HTTP) {
	if fix := hostPort(h.Listen, false); h.Listen != "" && fix != "" {
		l.fault("http.listen", Address, "is no address to listen at", fix)
	}
	for i, name := range h.Hosts {
		if !hostNames.MatchString(name) {
			l.fault("http.hosts["+strconv.Itoa(i)+"]", Name, "is no name of a host", "write the name alone, without a port, or *.NAME for every name below it")
		}
	}
	if h.Token != "" && !tokens.MatchString(h.Token) {
		l.fault("http.token", Name, "is no token", "write at least 16 visible ASCII characters, without spaces, as openssl rand -hex 32 prints them")
	}
}

func (l *loader) checkHBase(connect string) {
	const setting = "hbase.connect"
	scheme, rest, _ := strings.Cut(connect, ":")
	hosts, slashes := strings.CutPrefix(rest, "//")
	switch {
	case connect == "":
	case scheme == "embedded":
		if rest == "" || slashes {
			l.fault(setting, Address, "names no folder", "write embedded:./data/hbase")
		}
	case scheme == "zk" && slashes:
		servers, _, _ := strings.Cut(hosts, "/")
		l.checkHBaseHosts(servers, ":2181", "is no ZooKeeper server's address", "write zk://host:port,host:port/znode")
	case scheme == "rpc" && slashes:
		l.checkHBaseHosts(hosts, ":16000", "is no master's address", "write rpc://host:port, masters separated by commas")
	default:
		l.fault(setting, Address, "begins with no scheme that brine knows", "write rpc://host:port or zk://host:port/znode for a cluster, or embedded:DIR")
	}
}

// checkHBaseHosts checks addresses whose port may be left out: then it is HBase's own default.
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
				l.fault(setting, Address, "is no URL of a search engine", "write http://host:9200, https://host:9200 or embedded:DIR")
				break
			} else if u.User != nil {
				l.fault(setting, Address, "holds a user name or password", "give them as search.user and search.password: ${SEARCH_PASSWORD}")
				break
			}
		}
	}
	s.ca = l.readCA("search.ca", s.CA)
	l.together("search", "password", "user")
	l.together("search", "user", "password")
	if s.APIKey != "" && s.User != "" {
		l.fault("search.api_key", Duplicate, "both a user and an API key are set", "keep one of the two")
	}
	if s.Pause > s.MaxPause && s.MaxPause > 0 {
		l.fault("search.pause", Range, "is more than search.max_pause, which is "+DurationText(s.MaxPause), "write a shorter pause, or a longer max_pause")
	}
}

// together reports a setting of a section that is there without the other one that it needs.
func (l *loader) together(section, setting, needs string) {
	if l.has(join(section, setting)) && !l.has(join(section, needs)) {
		l.fault(join(section, setting), Missing, "does nothing without "+needs, "write "+needs+" too")
	}
}

// hostPort returns the fix of what is not host:port, or "". A port of 0 and an absent host only serve to listen.
func hostPort(s string, dial bool) string {
	const fix = "write host:port"
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, "/@ ") || dial && host == "" {
		return fix
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || dial && n == 0 {
		return fix + ", with a port up to 65535"
	}
	return ""
}

func (l *loader) checkRetries(setting string, retries int) {
	if retries > 0 && retries < fewRetries && l.has(setting) {
		l.warn(setting, FewRetries, "so few retries are over before a region has moved or been split: its rows then come back, and the loop submits their events again and again, which takes longer", "leave it at 15")
	}
}

func (l *loader) checkIndex(x *Index) {
	setting := join("indexes", x.Name)
	if !indexName(x.Name) {
		l.faultName(setting, Name, "is no name of an index", "use lower-case letters, digits, \".\", \"_\" and \"-\", a letter first, at most 200")
	}
	for _, f := range x.Fields {
		switch at := join(setting+".fields", f.Name); {
		case !indexFieldName(f.Name):
			l.faultName(at, Name, "is no name of a document's field", "use letters, digits, \"_\" and \"-\", not \"_\" first")
		case f.Name == deletedField && f.Type != "boolean" && f.Type != "":
			l.fault(at, FieldTypes, "searches pass over documents in which this field is true, so it must be boolean", "give it another name")
		}
	}
}

// fetchesHeld is how many fetches ingest wants a loop's budget to hold.
const fetchesHeld = 8

// checkMemory: a loop's budget must hold the fetches that can be out at a time.
func (l *loader) checkMemory(c *Config) {
	if c.Memory == 0 || c.Kafka.MaxFetchBytes == 0 {
		return
	}
	rows, documents := c.loops()
	if least := fetchesHeld * c.Kafka.MaxFetchBytes; c.share() < int64(least) {
		l.fault("memory", Buffer, fmt.Sprintf("leaves %v to the records of each of %d loops, and fetches of %v need %v", Bytes(c.share()), rows+documents, c.Kafka.MaxFetchBytes, least),
			fmt.Sprintf("write memory: %v, or a smaller kafka.max_fetch_bytes", least*Bytes(2*(rows+documents))))
	}
}
