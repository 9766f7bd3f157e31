package hbasetest

import "brine/hbase"

// operation runs an operation on the table or namespace with that name.
type operation func(r *runner, name string, words []string, more [][]string) error

// operations by their words. The operations on tables and peers, which take no such name, are separate.
var operations map[string]operation

func init() { // not at the declaration, because some operations run others
	operations = map[string]operation{
		"create-namespace": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.CreateNamespace(r.ctx, name))
		},
		"drop-namespace": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.DeleteNamespace(r.ctx, name))
		},
		"create": func(r *runner, name string, words []string, _ [][]string) error { return r.create(name, words) },
		"alter":  func(r *runner, name string, words []string, _ [][]string) error { return r.alter(name, words[0]) },
		"disable": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.DisableTable(r.ctx, name))
		},
		"enable": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.EnableTable(r.ctx, name))
		},
		"drop": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.DeleteTable(r.ctx, name))
		},
		"flush": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.FlushTable(r.ctx, name))
		},
		"compact":  func(r *runner, name string, _ []string, _ [][]string) error { return r.compact(name) },
		"exists":   func(r *runner, name string, _ []string, _ [][]string) error { return r.exists(name) },
		"describe": func(r *runner, name string, words []string, _ [][]string) error { return r.describe(name, words) },
		"regions":  func(r *runner, name string, _ []string, _ [][]string) error { return r.regions(name) },
		"split":    func(r *runner, name string, words []string, _ [][]string) error { return r.split(name, words[0]) },
		"merge":    func(r *runner, name string, words []string, _ [][]string) error { return r.merge(name, words) },
		"move":     func(r *runner, name string, words []string, _ [][]string) error { return r.move(name, words[0]) },

		"snapshot":  func(r *runner, name string, words []string, _ [][]string) error { return r.snapshot(name, words) },
		"snapshots": func(r *runner, name string, _ []string, _ [][]string) error { return r.snapshots(name) },
		"clone-snapshot": func(r *runner, name string, words []string, _ [][]string) error {
			return r.ok(r.client.CloneSnapshot(r.ctx, name, r.prefix+words[0]))
		},
		"restore-snapshot": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.RestoreSnapshot(r.ctx, name))
		},
		"drop-snapshot": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.DeleteSnapshot(r.ctx, name))
		},

		"grant": func(r *runner, name string, words []string, _ [][]string) error {
			return r.ok(r.client.Grant(r.ctx, permission(name, words), words[len(words)-1] == "merge"))
		},
		"revoke": func(r *runner, name string, words []string, _ [][]string) error {
			return r.ok(r.client.Revoke(r.ctx, permission(name, words)))
		},
		"permissions": func(r *runner, name string, _ []string, _ [][]string) error { return r.permissions(name) },
		"throttle":    func(r *runner, name string, words []string, _ [][]string) error { return r.throttle(name, words) },
		"space": func(r *runner, name string, words []string, _ [][]string) error {
			return r.ok(r.client.SetSpaceQuota(r.ctx, hbase.QuotaOf{Table: name}, uint64(parseInt(words[0])), hbase.SpacePolicy(words[1])))
		},
		"quotas":   func(r *runner, name string, _ []string, _ [][]string) error { return r.quotas(name) },
		"add-peer": func(r *runner, name string, words []string, _ [][]string) error { return r.addPeer(name, words) },
		"remove-peer": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.RemovePeer(r.ctx, name))
		},
		"enable-peer": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.EnablePeer(r.ctx, name))
		},
		"disable-peer": func(r *runner, name string, _ []string, _ [][]string) error {
			return r.ok(r.client.DisablePeer(r.ctx, name))
		},
		"normalizer": func(r *runner, _ string, words []string, _ [][]string) error { return r.normalizer(words[0] == "on") },
		"normalize":  func(r *runner, name string, _ []string, _ [][]string) error { return r.normalize(name) },
		"slow-log":   func(r *runner, name string, _ []string, _ [][]string) error { return r.slowLog(name) },

		"put": func(r *runner, name string, words []string, _ [][]string) error { return r.mutate(name, "put", words) },
		"delete": func(r *runner, name string, words []string, _ [][]string) error {
			return r.mutate(name, "delete", words)
		},
		"batch":     func(r *runner, name string, _ []string, more [][]string) error { return r.batch(name, more) },
		"mutate":    func(r *runner, name string, _ []string, more [][]string) error { return r.mutateRow(name, more) },
		"check":     (*runner).check,
		"increment": func(r *runner, name string, words []string, _ [][]string) error { return r.increment(name, words) },
		"append":    func(r *runner, name string, words []string, _ [][]string) error { return r.append(name, words) },
		"load":      (*runner).load,

		"get":    func(r *runner, name string, words []string, _ [][]string) error { return r.get(name, words) },
		"values": func(r *runner, name string, words []string, _ [][]string) error { return r.values(name, words) },
		"gets":   func(r *runner, name string, _ []string, more [][]string) error { return r.gets(name, more) },
		"scan":   (*runner).scan,
		"count":  func(r *runner, name string, _ []string, _ [][]string) error { return r.count(name) },
		"digest": func(r *runner, name string, _ []string, _ [][]string) error { return r.digest(name) },
	}
}
