#!/usr/bin/env bash
# For `make test-security`: the cases of the security matrix (docs/security.md) that need an HBase which is set up in another way than those of
# `make test`. Starts each on free ports with its data in a folder of its own, runs against it what is listed here, and ends it.
#
# BRINE_REAL=off starts nothing; with BRINE_REAL=required it is a failure when nothing can be tested.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/process.sh"
source "$here/against.sh"

readonly target=test-security
readonly packages=(./hbase)

# against WHAT SERVER runs the tests against a server with the settings of DEVCLUSTER_HBASE_SITE.
against() {
  local what=$1 server=$2 began=$SECONDS
  "$here/devcluster" up "$server"
  run_tests "$what"
  "$here/devcluster" wipe "$server" >/dev/null
  echo "$what: ${#tests[@]} tests passed in $((SECONDS - began)) s"
}

# clean ends what still runs, however this ends.
clean() {
  "$here/devcluster" wipe hbase-tls hbase-kerberos >/dev/null || true
  rm -rf "$DEVCLUSTER_RUN"
}

main() {
  can_test || return 0
  DEVCLUSTER_RUN=$(mktemp -d)
  export DEVCLUSTER_RUN DEVCLUSTER_HBASE_SITE
  trap clean EXIT

  DEVCLUSTER_HBASE_SITE="hbase.server.netty.tls.client.auth.mode none"
  tests=('TestTLSReal/a_certificate_of_the_authority_in_`ca`')
  against "an HBase with TLS that does not ask for certificates of clients" hbase-tls

  DEVCLUSTER_HBASE_SITE=$'hbase.server.netty.tls.client.auth.mode want\nhbase.server.netty.tls.supportplaintext true'
  tests=(TestTLSReal/one_of_the_client_is_wanted,_and_shown TestTLSReal/one_of_the_client_is_wanted,_and_not_shown
    TestTLSReal/TLS_to_a_port_of_both TestTLSReal/plain_text_to_a_port_of_both "TestTLSReal/the_clients'_authority_is_revoked")
  against "an HBase with TLS that also does without them, and takes plain text" hbase-tls

  DEVCLUSTER_HBASE_SITE="hbase.rpc.protection integrity"
  tests=('TestRealKerberosMatrix/a_server_that_offers_less_protection_than_`qop`' 'TestRealKerberosMatrix/a_server_that_demands_more_than_`qop`')
  if kdc_here; then against "an HBase with Kerberos that offers auth-int alone" hbase-kerberos; else skip "no KDC is here"; fi
}

main
