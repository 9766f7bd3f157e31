package locate

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"brine/hbase/internal/remote"
)

// maxReplicas bounds how many replicas of a region are known.
const maxReplicas = 64

// replicaDigits is how a column of hbase:meta ends that is a replica's: server_0001.
const replicaDigits = len("_0001")

// replicaColumn returns the name of a column of hbase:meta without the replica that it is of: 0, the region itself, unless it ends in
// an underscore and four hexadecimal digits.
func replicaColumn(qualifier []byte) (name []byte, replica int) {
	at := len(qualifier) - replicaDigits
	if at < 0 || qualifier[at] != '_' {
		return qualifier, 0
	}
	n, err := strconv.ParseUint(string(qualifier[at+1:]), 16, 16)
	if err != nil || n == 0 {
		return qualifier, 0
	}
	return qualifier[:at], int(n)
}

// replica returns the region's replica of a number, which it adds if need be; nil if there are too many.
func (r *Region) replica(number int) *Region {
	for _, p := range r.Replicas {
		if p.Replica == number {
			return p
		}
	}
	if len(r.Replicas) == maxReplicas {
		return nil
	}
	name := replicaName(r.Name, number)
	p := &Region{Table: r.Table, Name: name, Encoded: EncodedName(name), ID: r.ID, Start: r.Start, End: r.End, Replica: number}
	r.Replicas = append(r.Replicas, p)
	return p
}

// dropAbsent leaves out the replicas that are on no server.
func (r *Region) dropAbsent() {
	r.Replicas = slices.DeleteFunc(r.Replicas, func(p *Region) bool { return p.Server == "" })
}

// replicaName is table,start,id_0001.encoded., with the MD5 of what is before it as the encoded name.
func replicaName(region []byte, replica int) []byte {
	name := bytes.TrimSuffix(region, []byte("."))
	name = bytes.Clone(name[:max(0, bytes.LastIndexByte(name, '.'))])
	name = fmt.Appendf(name, "_%04X", replica)
	return fmt.Appendf(name, ".%x.", md5.Sum(name))
}

// FindReadable is Find for a reader who asks replicas, too: a region that is on no server is found if replicas of it are on some.
func (l *Locator) FindReadable(ctx context.Context, table string, row []byte) (*Region, error) {
	found, err := l.FindAround(ctx, table, Wanted{Row: row})
	if err != nil && (!errors.Is(err, remote.ErrNoServer) || len(found) == 0 || len(found[0].Replicas) == 0) {
		return nil, err
	}
	return found[0], nil
}
