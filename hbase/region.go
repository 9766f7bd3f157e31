package hbase

import "brine/hbase/internal/locate"

// Region is one region of a table as hbase:meta has it. Regions are never changed once made.
type Region = locate.Region

// Unreadable is the state of a region whose row of hbase:meta cannot be read. It is on no server that is known, and ends where
// the next begins.
const Unreadable = locate.Unreadable
