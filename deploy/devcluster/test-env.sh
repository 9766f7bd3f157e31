#!/usr/bin/env bash
# For `make test`: starts the real servers when that is possible here and prints the shell lines that tell the tests where
# they are; else says in one line why not, and the tests that need them are skipped. What it says goes to stderr.
#
# BRINE_REAL=off starts nothing; BRINE_REAL=required makes it a failure when a server is missing. BRINE_REAL_SERVERS names
# the wanted ones (default: all but hbase-cluster; hbase-kerberos and kafka-kerberos only where a KDC is, or apt-get; MySQL only on Linux on x86-64 with npm; opensearch and elasticsearch9 only where a Java 21 or newer is found, which is installed when they are
# required).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/process.sh"

skip() {
  if [[ ${BRINE_REAL:-} == required ]]; then
    echo "real servers: $* (BRINE_REAL=required, so this is a failure)" >&2
    echo "exit 1"
  else
    echo "real servers: not started, their tests are skipped: $*" >&2
  fi
  exit 0
}

[[ ${BRINE_REAL:-} == off ]] && skip "BRINE_REAL=off"
why=$(why_not)
[[ -z $why ]] || skip "$why"
read -ra servers <<<"${BRINE_REAL_SERVERS:-}"
if ((${#servers[@]} == 0)); then
  servers=(kafka hbase hbase-tls elasticsearch elasticsearch-secure)
  if [[ ${BRINE_REAL:-} == required ]] || kdc_here; then servers+=(hbase-kerberos kafka-kerberos); fi
  if java21 >/dev/null || { [[ ${BRINE_REAL:-} == required ]] && install_java21; }; then servers+=(opensearch elasticsearch9); fi
fi
for_tests
out=$("$here/devcluster" up "${servers[@]}" 2>&1) || { echo "$out" >&2; skip "they did not start, see above"; }
echo "$out" >&2
if [[ -z ${BRINE_REAL_SERVERS:-} ]]; then # tests start these themselves
  "$here/devcluster" fetch debezium >&2 || skip "Debezium is not there, see above"
  "$here/devcluster" fetch canal >&2 || skip "Canal is not there, see above"
  "$here/devcluster" fetch mariadb >&2 || skip "MariaDB is not there, see above"
  if [[ ${BRINE_REAL:-} == required ]] || mysql_here; then "$here/devcluster" fetch mysql >&2 || skip "MySQL is not there, see above"; fi
  "$here/devcluster" fetch asynchbase >&2 || skip "asynchbase is not there, see above"
fi
sed 's/^/export /' "${DEVCLUSTER_RUN:-$here/run}/env"
