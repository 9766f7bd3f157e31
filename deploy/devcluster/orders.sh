#!/usr/bin/env bash
# For `make test-orders`: 200 customers who confirm, cancel and delete ORDERS orders by two API servers while the shop changes them, on a real
# Kafka, HBase, Elasticsearch and MariaDB; see service.TestCustomers. `make test` does so with 800 orders. Starts the servers on free ports with
# their data in a folder of its own, and ends them.
#
# BRINE_REAL=off starts nothing; with BRINE_REAL=required it is a failure when nothing can be tested.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/process.sh"
source "$here/against.sh"

readonly target=test-orders
readonly packages=(./service)
readonly tests=(TestCustomers/real)
readonly servers=(kafka hbase elasticsearch)

# clean ends what still runs, however this ends.
clean() {
  "$here/devcluster" wipe "${servers[@]}" >/dev/null || true
  rm -rf "$DEVCLUSTER_RUN"
}

main() {
  local began=$SECONDS orders=${1:-10000}
  can_test || return 0
  ((orders >= 200)) || { echo "$target: ORDERS=$orders: each of the 200 customers needs one" >&2; return 2; }
  DEVCLUSTER_RUN=$(mktemp -d)
  chmod 755 "$DEVCLUSTER_RUN" # Elasticsearch runs as another user if root starts it
  export DEVCLUSTER_RUN BRINE_ORDERS=$orders
  trap clean EXIT
  "$here/devcluster" fetch mariadb # the test starts it
  "$here/devcluster" up "${servers[@]}"
  run_tests "real servers"
  sed -n 's/^ *customers_test.go:[0-9]*: //p' "$DEVCLUSTER_RUN/tests.log"
  echo "$orders orders: passed in $((SECONDS - began)) s"
}

main "$@"
