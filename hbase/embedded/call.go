package embedded

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// call is one request in work. Cells of the request are read from in, those of the answer are appended to out.
type call struct {
	node   *node
	conn   *conn
	method string
	in     []byte
	out    []byte
	held   int      // bytes of the answer that are counted
	fresh  int      // bytes of the answer that are not counted yet
	full   bool     // no more is to be made: the client has to read first
	size   int      // bytes of the cells in results, for Options.MaxResult
	faults *Outcome // of single regions and rows; nil: none
}

// method is how a method is decoded and handled.
type method struct {
	param  func() proto.Message
	handle func(ctx context.Context, c *call, param proto.Message) (proto.Message, error)
}

// on makes a method of a handler with its own parameter and result types.
func on[P any, M interface {
	*P
	proto.Message
}, R proto.Message](handle func(context.Context, *call, M) (R, error)) method {
	return method{
		param: func() proto.Message { return M(new(P)) },
		handle: func(ctx context.Context, c *call, param proto.Message) (proto.Message, error) {
			r, err := handle(ctx, c, param.(M))
			if err != nil {
				return nil, err
			}
			return r, nil
		},
	}
}

// services are the methods by service and name. What is not here is answered as unsupported.
var services = map[string]map[string]method{}

func init() {
	services["ClientService"] = clientService
	services["AdminService"] = adminService
	services["MasterService"] = masterService
	services["ClientMetaService"] = registryService
	services["RegionServerStatusService"] = map[string]method{}
	services["LockService"] = map[string]method{}
	services["BootstrapNodeService"] = map[string]method{}
	services["HbckService"] = map[string]method{}
}

// run handles a request and answers it, unless a control function has it never answered.
func (c *conn) run(ctx context.Context, r wire.Request) {
	id := r.Header.GetCallId()
	name := r.Header.GetMethodName()
	m, known := services[c.header.GetServiceName()][name]
	if !known {
		c.node.requests.Add(1)
		c.reply(id, nil, nil, unsupported("%s.%s", c.header.GetServiceName(), name))
		return
	}
	param := m.param()
	if err := proto.Unmarshal(r.Param, param); err != nil {
		c.reply(id, nil, nil, final(classDoNotRetry, "parameter of %s: %v", name, err))
		return
	}
	k := &call{node: c.node, conn: c, method: name, in: r.Cells}
	o := c.node.cluster.controls.ask(&Request{Node: c.node.place.index, Service: c.header.GetServiceName(), Method: name, Param: param,
		Cells: r.Cells, Remote: c.net.RemoteAddr().String()})
	if !o.before(ctx) {
		return
	}
	c.node.requests.Add(1)
	defer k.release()
	result, err := k.handle(ctx, m, param, o)
	switch {
	case o.dropped():
		c.net.Close()
	case o.silent() || ctx.Err() != nil:
	default:
		if err == nil {
			k.hold(proto.Size(result) + len(k.out) - k.held)
		}
		c.reply(id, result, k.out, err)
	}
}

// handle runs the handler, or gives what a control function wants instead. A handler that panics answers so, with the
// stack: one bad request must not end the others.
func (k *call) handle(ctx context.Context, m method, param proto.Message, o *Outcome) (result proto.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, final(classDoNotRetry, "BUG: %s: %v\n%s", k.method, p, debug.Stack())
		}
	}()
	switch {
	case o != nil:
		return o.handle(ctx, k, m, param)
	default:
		return k.answer(ctx, m, param)
	}
}

// answer runs the handler, unless the node as a whole refuses.
func (k *call) answer(ctx context.Context, m method, param proto.Message) (proto.Message, error) {
	switch service := k.conn.header.GetServiceName(); {
	case k.node.stopping.Load() && (service == "ClientService" || service == "AdminService"):
		return nil, &Exception{Class: classStopped, Message: "Server " + k.node.String() + " stopping"}
	case k.node.cluster.waiting.Load() > 0 && service == "MasterService" && k.method != "IsMasterRunning":
		return nil, &Exception{Class: classPleaseHold, Message: "Master is initializing"}
	}
	return m.handle(ctx, k, param)
}

// cell takes the next cell of the request's cell block.
func (k *call) cell() (wire.Cell, error) {
	if len(k.in) == 0 {
		return wire.Cell{}, final(classDoNotRetry, "the cell block ends before the cells that the request announces")
	}
	c, rest, err := wire.NextCell(k.in)
	if err != nil {
		return c, final(classDoNotRetry, "%v", err)
	}
	k.in = rest
	return c, nil
}

func (k *call) now() int64 { return millis(k.node.clock()) }

func millis(t time.Time) int64 { return t.UnixMilli() }

// nameOf returns a message's table.
func nameOf(t *hbasepb.TableName) tableName {
	return tableName{namespace: string(t.GetNamespace()), qualifier: string(t.GetQualifier())}
}

// tableName names a table.
type tableName struct{ namespace, qualifier string }

const defaultNamespace = "default"

func (t tableName) String() string {
	if t.namespace == defaultNamespace || t.namespace == "" {
		return t.qualifier
	}
	return fmt.Sprintf("%s:%s", t.namespace, t.qualifier)
}

// parseTableName reads namespace:name, or name in the default namespace.
func parseTableName(s string) tableName {
	if namespace, name, ok := strings.Cut(s, ":"); ok {
		return tableName{namespace, name}
	}
	return tableName{defaultNamespace, s}
}

func (t tableName) message() *hbasepb.TableName {
	return &hbasepb.TableName{Namespace: []byte(t.namespace), Qualifier: []byte(t.qualifier)}
}
