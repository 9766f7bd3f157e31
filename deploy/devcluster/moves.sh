#!/usr/bin/env bash
# For `make test-moves`: what depends on a region's move from one server to another, on a real cluster of several region servers. Starts
# hbase-cluster on free ports with its data in a folder of its own, runs against it what is listed here, and ends it. `make test` has HBase in one
# process, where a region that is moved stays on its server.
#
# BRINE_REAL=off starts nothing; with BRINE_REAL=required it is a failure when nothing can be tested.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/process.sh"
source "$here/against.sh"

readonly target=test-moves
readonly packages=(./hbase/hbasetest ./hbase)
readonly tests=(TestMovesBetweenServers/our_client TestMovesBetweenServers/Java_client TestRegionsSplitMergeAndMoveUnderAScan/real)

# clean ends what still runs, however this ends.
clean() {
  "$here/devcluster" wipe hbase-cluster >/dev/null || true
  rm -rf "$DEVCLUSTER_RUN"
}

main() {
  local began=$SECONDS
  can_test || return 0
  DEVCLUSTER_RUN=$(mktemp -d)
  export DEVCLUSTER_RUN DEVCLUSTER_SESSION_MS=120000
  trap clean EXIT
  "$here/devcluster" up hbase-cluster
  run_tests "a cluster of several region servers"
  echo "a cluster of several region servers: ${#tests[@]} tests passed in $((SECONDS - began)) s"
}

main
