// Package top is the live picture of running brines and their cluster that `brine top` shows.
//
// A Reader asks the brines and the cluster, and returns a Snapshot: what pipelines, tables, regions, servers and keys do at one
// moment. A View holds what a person has chosen to see of it (mode, sorting, scope, filter, cursor); keys change it and drawing does
// not. Watch runs both on a terminal.
package top
