# Pictures of the dashboards and of the terminal, from a real run of some minutes.

.PHONY: pictures
pictures: build ## Make the pictures of docs/images again: needs Debian's prometheus and tmux, and 12 minutes
	$(GO) run ./deploy/pictures
