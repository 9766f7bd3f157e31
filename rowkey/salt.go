package rowkey

// Salt locates the salt at the beginning of a key's rows. The zero Salt stands for a key without one.
type Salt struct {
	at, width int // bytes
	buckets   int
}

// Salt returns the salt that the key begins with; constants may precede it.
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

// Buckets returns the number of buckets, or 0 without a salt.
func (s Salt) Buckets() int { return s.buckets }

// Bucket returns the bucket of one of the key's rows, from 0 to Buckets − 1, or −1 without a salt or if the key could not have made row.
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

// SaltWidth returns the number of bytes up to the end of the salt that the key begins with, or 0 if it begins with none. Without these
// bytes, rows of different buckets compare in the order of the fields that follow.
func (k *Key) SaltWidth() int {
	s := k.Salt()
	return s.at + s.width
}
