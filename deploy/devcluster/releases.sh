#!/usr/bin/env bash
# For `make test-releases`: the older releases of HBase that the README names. Starts each, one after the other, on free ports with its data in a
# folder of its own, runs against it what is listed here, and ends it.
#
#   releases.sh [VERSION…]
#
# A release whose jars cannot be resolved is named and passed over; with BRINE_REAL=required that is a failure. BRINE_REAL=off starts nothing.
# It fails, too, when a test that is listed here is not there any more: each must say that it passed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/process.sh"
source "$here/against.sh"

readonly target=test-releases
readonly releases=(2.5.12-hadoop3 2.4.18)

# What runs against each: the conformance scripts by our client and by Java's of that release, which also runs them against the embedded server;
# and by our client writing, reading, changes of rows, administration and ZooKeeper.
readonly packages=(./hbase/hbasetest ./hbase ./sink)
readonly tests=(
  TestOurClient/on_the_real_server TestJavaClient/on_the_real_server TestJavaClient/on_the_embedded_server
  TestRealRelease TestRealZooKeeper
  TestReadBack/real TestOrderInARowHoldsAcrossMutators/real TestSplitsAndMergesUnderLoadLoseNothing
  TestMutateRowIsAtomic/real TestCheckAndMutate/real TestIncrementAndAppend/real TestFilters/real TestScanMetrics/real
  TestNamespaces/real TestAlterTable/real TestTruncateKeepsOrDropsSplits/real TestRegionsSplitMergeAndMoveUnderAScan/real
  TestFlushCompactAndLoads/real TestClusterStatusAndBalancer/real
  TestShapes/real TestTTL/real TestHardDeletesOutlastAMajorCompaction/real TestNullPolicies/merge/real TestNullPolicies/delete/real TestNullPolicies/replace/real
)

# release VERSION tests one.
release() {
  local began=$SECONDS
  export HBASE_VERSION=$1 BRINE_HBASE_CLIENT=$1 DEVCLUSTER_RUN=$folder/$1
  "$here/devcluster" fetch hbase || { skip "HBase $1 is not tested: its jars cannot be resolved, see above"; return 0; }
  "$here/devcluster" up hbase || return 1
  run_tests "HBase $HBASE_VERSION" || return 1
  "$here/devcluster" wipe hbase >/dev/null
  echo "HBase $1: ${#tests[@]} tests passed in $((SECONDS - began)) s"
}

# clean ends what still runs, however this ends.
clean() {
  local run
  for run in "$folder"/*/; do
    [[ ! -d $run ]] || DEVCLUSTER_RUN=${run%/} "$here/devcluster" wipe hbase >/dev/null || true
  done
  rm -rf "$folder"
}

main() {
  local version failed=0
  can_test || return 0
  folder=$(mktemp -d)
  trap clean EXIT
  for version in "${@:-${releases[@]}}"; do release "$version" || failed=1; done
  return $failed
}

main "$@"
