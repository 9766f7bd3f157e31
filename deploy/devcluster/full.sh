#!/usr/bin/env bash
# Writes the full scan events of `make data` through brine into the running real servers, and lets HBase's own Java client count
# the rows. Run it by `make full`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
events=664839
source "$here/run/env"
export BRINE_KAFKA_BROKERS=$BRINE_REAL_KAFKA BRINE_HBASE_CONNECT=$BRINE_REAL_HBASE BRINE_HTTP_LISTEN=127.0.0.1:0
brine() { "$root/bin/brine" "$@"; }

brine tables apply -c "$root/examples/scans.yaml"
brine publish -c "$root/examples/scans.yaml" --topic courier.scans --key waybill "$root/data/scans.jsonl.gz"
brine run -c "$root/examples/scans.yaml" --until-end
counted=$("$here/devcluster" digest logistics:scans)
echo "HBase's Java client: $counted"
[[ $counted == "rows=$events "* ]] || { echo "wanted rows=$events" >&2; exit 1; }
