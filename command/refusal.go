package command

// Kind is why a command is refused.
type Kind string

// The kinds of refusals.
const (
	NotFound   Kind = "not-found"
	Forbidden  Kind = "forbidden"   // the role may not
	Invalid    Kind = "invalid"     // an argument is wrong
	NoKey      Kind = "no-key"      // of idempotency
	KeyReused  Kind = "key-reused"  // for another command
	KeyRunning Kind = "key-running" // the first request with the key is being worked on
	NoVersion  Kind = "no-version"  // If-Match is missing
	Stale      Kind = "stale"       // the row has another version
	NotAllowed Kind = "not-allowed" // by its state
	Held       Kind = "held"        // another command holds the version
	Gone       Kind = "gone"        // what it would undo may be purged
)

// Refusal is why a command is not accepted.
type Refusal struct {
	Kind   Kind
	Detail string
	Arg    string // of Invalid
	Order  *Order // as it is now; nil where that says nothing, or is not to be said
}

func (r *Refusal) Error() string { return r.Detail }

func refuse(k Kind, detail string) error { return &Refusal{Kind: k, Detail: detail} }

func refuseAt(k Kind, o *Order, detail string) error {
	return &Refusal{Kind: k, Detail: detail, Order: o}
}
