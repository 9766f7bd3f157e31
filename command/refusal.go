package command

// Kind is the reason why a command is refused.
type Kind string

// The kinds of refusals.
const (
	NotFound   Kind = "not-found"
	Forbidden  Kind = "forbidden"   // the role may not do it
	Invalid    Kind = "invalid"     // an argument is wrong
	NoKey      Kind = "no-key"      // the idempotency key is missing
	KeyReused  Kind = "key-reused"  // the key was used for another command
	KeyRunning Kind = "key-running" // the first request with the key is still in progress
	NoVersion  Kind = "no-version"  // If-Match is missing
	Stale      Kind = "stale"       // the row has another version
	NotAllowed Kind = "not-allowed" // in the row's state
	Held       Kind = "held"        // another command holds the version
	Gone       Kind = "gone"        // what it would undo may be purged
)

// Refusal is the error of a command that is not accepted.
type Refusal struct {
	Kind   Kind
	Detail string
	Arg    string // argument that is Invalid
	Order  *Order // present state; nil if it is irrelevant, or must not be shown
}

func (r *Refusal) Error() string { return r.Detail }

func refuse(k Kind, detail string) error { return &Refusal{Kind: k, Detail: detail} }

func refuseAt(k Kind, o *Order, detail string) error {
	return &Refusal{Kind: k, Detail: detail, Order: o}
}
