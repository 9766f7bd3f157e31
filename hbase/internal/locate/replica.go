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

// maxReplicas bounds the number of known replicas of a region.
const maxReplicas = 64

// replicaDigits is the length of the suffix of a replica's column in hbase:meta, as in server_0001.
const replicaDigits = len("_0001")

// replicaColumn splits the name of a column of hbase:meta into the name and the replica number. The number is 0, the region itself, unless
// the name ends in an underscore and four hexadecimal digits.
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

// replica returns the region's replica with the given number and adds it if necessary. It returns nil if there are too many.
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

// dropAbsent removes the replicas that are on no server.
func (r *Region) dropAbsent() {
	r.Replicas = slices.DeleteFunc(r.Replicas, func(p *Region) bool { return p.Server == "" })
}

// replicaName returns table,start,id_0001.encoded., where the encoded name is the MD5 of what precedes it.
func replicaName(region []byte, replica int) []byte {
	name := bytes.TrimSuffix(region, []byte("."))
	name = bytes.Clone(name[:max(0, bytes.LastIndexByte(name, '.'))])
	name = fmt.Appendf(name, "_%04X", replica)
	return fmt.Appendf(name, ".%x.", md5.Sum(name))
}

// FindReadable is Find for readers that may use replicas: it also finds a region on no server if it has replicas that are on one.
func (l *Locator) FindReadable(ctx context.Context, table string, row []byte) (*Region, error) {
	found, err := l.FindAround(ctx, table, Wanted{Row: row})
	if err != nil && (!errors.Is(err, remote.ErrNoServer) || len(found) == 0 || len(found[0].Replicas) == 0) {
		return nil, err
	}
	return found[0], nil
}
