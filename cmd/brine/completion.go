package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"brine/internal/completion"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help returns the detailed help of the command.
func (completionCmd) Help() string {
	return `Examples:
  source <(brine completion bash)
  brine completion zsh > "${fpath[1]}/_brine"
  brine completion fish > ~/.config/fish/completions/brine.fish`
}

func (c *completionCmd) Run(e *env) error {
	_, err := fmt.Fprint(e.stdout, completion.Scripts[c.Shell])
	return err
}

// completeLineCmd is the hidden command that shells call for completions.
type completeLineCmd struct {
	Words []string `arg:"" optional:"" help:"Words of the command line, the last of which is incomplete."`
}

func (c *completeLineCmd) Run(e *env, parsed *kong.Context) error {
	for _, w := range completion.Words(parsed.Model.Node, c.Words) {
		fmt.Fprintf(e.stdout, "%s\t%s\n", w.Text, w.Help)
	}
	return nil
}
