package embedded

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// call is one request in progress. Cells of the request are read from in; cells of the answer are appended to out.
type call struct {
	node   *node
	conn   *conn
	method string
	in     []byte
	out    []byte
	held   int      // bytes of the answer counted so far
	fresh  int      // bytes of the answer not counted yet
	full   bool     // the answer must not grow until the client has read more
	size   int      // bytes of the cells in results, for Options.MaxResult
	faults *Outcome // for single regions and rows; nil: none
}

// method is how the parameter of a method is decoded and its call handled.
type method struct {
	param  func() proto.Message
	handle func(ctx context.Context, c *call, param proto.Message) (proto.Message, error)
}

// on returns the method of a handler with its own parameter and result types.
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

// services maps service and method names to methods, merged from the families in rpc_*.go. A method that is missing here is answered as
// unsupported. init fills it, because handlers refer to connections and connections to services.
var services map[string]map[string]method

func init() {
	services = merge(getMethods, mutateMethods, multiMethods, scanMethods, regionServerMethods,
		regionMethods, balancerMethods, tableMethods, schemaMethods, catalogueMethods,
		namespaceMethods, snapshotMethods, accessMethods, peerMethods, statusMethods, procedureMethods, registryMethods)
	for _, name := range []string{"RegionServerStatusService", "LockService", "BootstrapNodeService", "HbckService"} {
		services[name] = map[string]method{} // a connection may name it, but none of its methods is served
	}
}

// merge merges families of methods, whose keys are Service.Method. It panics if two families have the same method.
func merge(families ...map[string]method) map[string]map[string]method {
	all := make(map[string]map[string]method)
	for _, family := range families {
		for full, m := range family {
			service, name, _ := strings.Cut(full, ".")
			if all[service] == nil {
				all[service] = make(map[string]method)
			}
			if _, twice := all[service][name]; twice {
				panic("embedded: " + full + " is served by two families")
			}
			all[service][name] = m
		}
	}
	return all
}

// run handles a request and answers it, unless a control function suppresses the answer.
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
		Cells: r.Cells, Remote: c.net.RemoteAddr().String(), at: c.node})
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

// handle runs the handler, or returns what a control function wants instead. If the handler panics, the answer is an exception with its
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

// answer runs the handler, unless the node as a whole refuses the call.
func (k *call) answer(ctx context.Context, m method, param proto.Message) (proto.Message, error) {
	switch service := k.conn.header.GetServiceName(); {
	case k.node.stopping.Load() && (service == "ClientService" || service == "AdminService"):
		return nil, &Exception{Class: classStopped, Message: "Server " + k.node.String() + " stopping"}
	case k.node.cluster.waiting.Load() > 0 && service == "MasterService" && k.method != "IsMasterRunning":
		return nil, &Exception{Class: classPleaseHold, Message: "Master is initializing"}
	}
	return m.handle(ctx, k, param)
}

// cell returns the next cell of the request's cell block.
func (k *call) cell() (wire.Cell, error) {
	if len(k.in) == 0 {
		return wire.Cell{}, final(classDoNotRetry, "the cell block ends before the cells that the request announces")
	}
	var c wire.Cell
	rest, err := wire.NextCell(&c, k.in)
	if err != nil {
		return c, final(classDoNotRetry, "%v", err)
	}
	k.in = rest
	return c, nil
}

func (k *call) now() int64 { return millis(k.node.clock()) }

func millis(t time.Time) int64 { return t.UnixMilli() }
