package event

// Schema is what a pipeline declares of its records: the fields it uses, and which of them is the version.
type Schema struct {
	Fields  []Field
	Version int // position of the version's field; -1 means the record's own timestamp
}

// Decoder turns records into events. It is not safe for concurrent use: every partition worker has its own.
type Decoder struct {
	schema Schema
}

// NewDecoder makes a decoder for JSON objects of this schema.
func NewDecoder(schema Schema) *Decoder { return &Decoder{schema: schema} }

// Decode appends the event of rec to b. On error (always an *Error) b is unchanged.
func (d *Decoder) Decode(rec *Record, b *Batch) error {
	panic("not implemented")
}

// Reset empties b and takes back the buffers that its events' values point to.
func (d *Decoder) Reset(b *Batch) {
	panic("not implemented")
}
