package remote

import "context"

// Join returns a context that ends with ctx or with the client's context, in the latter case with ErrClosed as its cause.
func Join(ctx, client context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if client.Err() != nil {
		cancel(ErrClosed) // now, not soon
	}
	stop := context.AfterFunc(client, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
