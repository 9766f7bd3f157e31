package rowkey

// Salt says where the salt that a key begins with lies in its rows. The zero Salt is that of a key without one.
type Salt struct {
	at, width int // bytes
	buckets   int
}

// Salt returns the salt that the key begins with; constants may stand before it.
func (k *Key) Salt() Salt {
	at := 0
	for _, s := range k.slots {
		switch p := s.part.(type) {
		case literal:
			at += p.width()
			continue
		case *salt:
			return Salt{at: at, width: p.width(), buckets: p.buckets}
		}
		break
	}
	return Salt{}
}

// Buckets is the number of buckets, 0 without a salt.
func (s Salt) Buckets() int { return s.buckets }

// Bucket is the bucket of one of the key's rows, from 0 to Buckets − 1; −1 without a salt, or when row is none of the key's.
func (s Salt) Bucket(row []byte) int {
	if len(row) < s.at+s.width {
		return -1
	}
	bucket := -1
	switch s.width {
	case 1:
		bucket = int(row[s.at])
	case 2:
		bucket = int(row[s.at])<<8 | int(row[s.at+1])
	}
	if bucket >= s.buckets {
		return -1
	}
	return bucket
}

// SaltWidth is the number of bytes up to the end of the salt that the key begins with, 0 when it does not: rows of different
// buckets are in the order of what follows these bytes.
func (k *Key) SaltWidth() int {
	s := k.Salt()
	return s.at + s.width
}
