package remote

import "context"

// Join returns ctx that ends with the client's context as well, then with ErrClosed as its cause.
func Join(ctx, client context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(client, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
