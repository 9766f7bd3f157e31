# Rules and dashboards; promtool and prometheus are in Debian's package prometheus.

.PHONY: promtool
promtool: ## Check and unit-test the alert rules
	cd deploy/prometheus && promtool check rules *.rules.yaml && promtool test rules *.rules.test.yaml

.PHONY: panels
panels: ## Run every query of every dashboard in a real Prometheus beside brine dev
	$(GO) test -count=1 -v -run TestEveryPanelHasData ./deploy/prometheus
