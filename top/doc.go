// Package top is the live view of running brines and their cluster that `brine top` shows.
//
// A Reader asks the brines and the cluster, and returns a Snapshot: the activity of pipelines, tables, regions, servers and keys at one
// moment. A View holds what a person has chosen to see of it (mode, sorting, scope, filter, cursor); keys change it, drawing does not.
// Watch runs both on a terminal.
package top
