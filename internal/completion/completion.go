// Package completion completes the words of a command line that kong parses, for bash, zsh and fish.
//
// It reads only the model of the command line, so that a tab is answered at once.
package completion

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Scripts are the completion scripts by shell. They call brine itself, with `brine complete-line WORD…`. The shell completes what brine
// does not know, such as files. zsh runs its script when it is sourced, or as the body of _brine at the first tab, which must be answered
// too.
var Scripts = map[string]string{
	"bash": `_brine() {
    local line word
    COMPREPLY=()
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        if [[ ${COMP_WORDS[COMP_CWORD]} == = || ${COMP_WORDS[COMP_CWORD-1]} == = ]]; then word=${word#*=}; fi
        COMPREPLY+=("$word")
    done < <("${COMP_WORDS[0]}" complete-line "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _brine brine
`,
	"zsh": `#compdef brine
_brine() {
    local -a found
    local line
    for line in "${(@f)$(${words[1]} complete-line "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#found )); then _describe brine found; else _files; fi
}
if [[ ${funcstack[1]} == _brine ]]; then _brine "$@"; else compdef _brine brine; fi
`,
	"fish": `function __brine_complete
    set -l found (brine complete-line (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if count $found >/dev/null
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c brine -f -a '(__brine_complete)'
`,
}

// Word is a possible word of a command line.
type Word struct{ Text, Help string }

// Words returns the possible completions of the last word of a command line. If there are none, the command line does not determine them.
func Words(app *kong.Node, words []string) []Word {
	words = joined(words)
	if len(words) == 0 {
		words = []string{""}
	}
	if len(words) > 1 && words[0] == "help" {
		words = words[1:]
	}
	last := words[len(words)-1]
	node, flag := walk(app, words[:len(words)-1])
	var all []Word
	switch name, _, valued := strings.Cut(last, "="); {
	case flag != nil:
		all = choices(flag.Value, "")
	case valued && strings.HasPrefix(last, "--"):
		if f := FlagOf(node, name); f != nil {
			all = choices(f.Value, name+"=")
		}
	case strings.HasPrefix(last, "-"):
		all = flagNames(node)
	default:
		all = commandNames(node)
	}
	return slices.DeleteFunc(all, func(w Word) bool { return !strings.HasPrefix(w.Text, last) })
}

// joined rejoins words that bash splits at an equals sign.
func joined(words []string) []string {
	var out []string
	for i, w := range words {
		if n := len(out); n > 0 && (w == "=" || i > 1 && words[i-1] == "=") {
			out[n-1] += w
			continue
		}
		out = append(out, w)
	}
	return out
}

// walk returns the command that the words before the last one name, and the flag whose value the last one is, if any.
func walk(node *kong.Node, words []string) (*kong.Node, *kong.Flag) {
	var open *kong.Flag
	for _, w := range words {
		if open != nil {
			open = nil
			continue
		}
		if strings.HasPrefix(w, "-") {
			if f := FlagOf(node, w); f != nil && !f.IsBool() {
				open = f
			}
			continue
		}
		for _, child := range node.Children {
			if child.Name == w {
				node = child
				break
			}
		}
	}
	return node, open
}

// FlagOf returns the flag of a command or of its parents with the name --name or -short.
func FlagOf(node *kong.Node, word string) *kong.Flag {
	for n := flagged(node); n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// flagged returns the command whose flags may follow a node: its default command, if it has one.
func flagged(node *kong.Node) *kong.Node {
	return cmp.Or(node.DefaultCmd, node)
}

func flagNames(node *kong.Node) (out []Word) {
	for n := flagged(node); n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if !f.Hidden {
				out = append(out, Word{"--" + f.Name, f.Help})
			}
		}
	}
	return out
}

// commandNames returns the commands below a node, or the values of its argument.
func commandNames(node *kong.Node) (out []Word) {
	for _, child := range node.Children {
		if !child.Hidden {
			out = append(out, Word{child.Name, child.Help})
		}
	}
	for _, p := range node.Positional {
		out = append(out, choices(p, "")...)
	}
	return out
}

// choices returns the values that a flag or an argument may have.
func choices(v *kong.Value, before string) (out []Word) {
	if v.Enum == "" {
		return nil
	}
	for _, one := range v.EnumSlice() {
		if one != "" {
			out = append(out, Word{before + one, v.Help})
		}
	}
	return out
}
