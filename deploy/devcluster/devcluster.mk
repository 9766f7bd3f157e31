# Real servers for tests and for a look around; SERVERS="kafka hbase" names some of them, SERVERS=hbase-cluster is HBase as separate
# processes, HBASE_VERSION=2.5.12-hadoop3 another release of it.
##@ Real servers

DEVCLUSTER := deploy/devcluster/devcluster

.PHONY: real-up
real-up: ## Start real Kafka, HBase and Elasticsearch on free ports (needs Java 17 and Maven)
	@$(DEVCLUSTER) up $(SERVERS)
	@echo "addresses: deploy/devcluster/run/env"

.PHONY: real-down
real-down: ## End the real servers; their data stay
	@$(DEVCLUSTER) down $(SERVERS)

.PHONY: real-status
real-status: ## Show which real servers run, and where
	@$(DEVCLUSTER) status $(SERVERS)

.PHONY: real-wipe
real-wipe: ## End the real servers and delete their data
	@$(DEVCLUSTER) wipe $(SERVERS)

.PHONY: test-releases
test-releases: ## Run the conformance scripts and the main tests against older releases of HBase (RELEASES; needs Java 17 and Maven)
	@deploy/devcluster/releases.sh $(RELEASES)

.PHONY: test-moves
test-moves: ## Run what depends on moves between servers against a real HBase of several region servers (needs Java 17 and Maven)
	@deploy/devcluster/moves.sh

.PHONY: test-security
test-security: ## Run what asks real secured HBases for less, or more, than those of `make test` do (needs Java 17 and Maven)
	@deploy/devcluster/security.sh

# ORDERS are divided among 200 customers; the run is given up after 15 minutes.
ORDERS ?= 10000

.PHONY: test-orders
test-orders: ## Let 200 customers change 10,000 orders on real servers, and judge the outcome by the topic (ORDERS; needs Java 17 and Maven)
	@deploy/devcluster/orders.sh $(ORDERS)

.PHONY: full
full: build data real-up ## Write all 664,839 scan events into the real servers, and count the rows with HBase's Java client
	@deploy/devcluster/full.sh
