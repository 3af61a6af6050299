package command

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// completeName is the verb that the shells ask.
const completeName = "complete"

// WithCompletion returns the program with two verbs more: completion, which prints what
// a shell has to read, and the hidden one that shells ask then.
func (p *Program) WithCompletion() *Program {
	out := &Program{Name: p.Name, Verbs: slices.Clone(p.Verbs)}
	out.Verbs = append(out.Verbs, Verb{
		Name: "completion", Args: "bash|zsh|fish", Plain: true,
		Summary: "Print what makes a shell complete the commands and flags of this program.",
		Detail:  p.Name + " completion bash > /etc/bash_completion.d/" + p.Name + ", or, for zsh, a file _" + p.Name + " in a folder of $fpath, or, for fish, ~/.config/fish/completions/" + p.Name + ".fish.",
		Make: func(*Flags) Run {
			return func(_ context.Context, c *Call) error {
				script, ok := scripts[c.Args[0]]
				if !ok {
					return fmt.Errorf("there is no completion for %s: there is one for bash, zsh and fish", c.Args[0])
				}
				_, err := fmt.Fprint(c.Out, strings.NewReplacer("NAME", out.Name, "COMPLETE", completeName).Replace(script))
				return err
			}
		},
	}, Verb{
		Name: completeName, Args: "WORD...", Raw: true, Hidden: true,
		Summary: "Print what the last word may become, for shells.",
		Make: func(*Flags) Run {
			return func(_ context.Context, c *Call) error {
				for _, found := range out.complete(c.Args) {
					fmt.Fprintf(c.Out, "%s\t%s\n", found.word, found.summary)
				}
				return nil
			}
		},
	})
	return out
}

// candidate is what a word may become, and what that is.
type candidate struct{ word, summary string }

// complete returns what the last of words may become: the next word of a verb, a flag,
// or the value of one. It returns nothing where the name of a file may stand.
func (p *Program) complete(words []string) (all []candidate) {
	if len(words) == 0 {
		return nil
	}
	words = joined(words)
	before, last := words[:len(words)-1], words[len(words)-1]
	add := func(word, summary string) {
		if strings.HasPrefix(word, last) && !slices.ContainsFunc(all, func(c candidate) bool { return c.word == word }) {
			all = append(all, candidate{word, summary})
		}
	}
	if len(before) > 0 && asksHelp(before[0]) {
		before = before[1:]
	}
	for _, v := range p.Verbs {
		name := strings.Fields(v.Name)
		if v.Hidden || len(name) <= len(before) || !slices.Equal(name[:len(before)], before) {
			continue
		}
		summary := v.Summary
		if len(name) > len(before)+1 {
			summary = ""
		}
		add(name[len(before)], summary)
	}
	v, rest := p.find(before)
	if v == nil || v.Raw || slices.Contains(rest, "--") {
		return all
	}
	f := p.flags(v)
	v.Make(f)
	if len(rest) > 0 && strings.HasPrefix(rest[len(rest)-1], "-") {
		name := strings.TrimLeft(rest[len(rest)-1], "-")
		if one := f.Lookup(name); one != nil && !switches(one) {
			for _, value := range f.values[name] {
				add(value, "")
			}
			return all
		}
	}
	if strings.HasPrefix(last, "-") {
		for _, one := range f.shown() {
			_, text := flag.UnquoteUsage(one)
			add(dashed(one.Name), text)
		}
	} else if len(rest) == 0 && strings.Contains(v.Args, "|") && v.Args == strings.ToLower(v.Args) {
		for word := range strings.SplitSeq(v.Args, "|") {
			add(word, "")
		}
	}
	return all
}

// switches reports whether a flag stands without a value.
func switches(one *flag.Flag) bool {
	b, ok := one.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// joined undoes what bash does to --flag=value, which are three words to it.
func joined(words []string) (out []string) {
	for _, w := range words {
		if w != "=" {
			out = append(out, w)
		}
	}
	if words[len(words)-1] == "=" {
		out = append(out, "")
	}
	return out
}

// scripts make shells ask the program. Where it has no answer, the name of a file is completed.
var scripts = map[string]string{
	"bash": `# bash completion for NAME
_NAME() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		COMPREPLY+=("${line%%$'\t'*}")
	done < <("${COMP_WORDS[0]}" COMPLETE "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _NAME NAME
`,
	"zsh": `#compdef NAME
_NAME() {
	local -a found
	local word summary
	while IFS=$'\t' read -r word summary; do
		found+=("${word//:/\\:}:$summary")
	done < <("${words[1]}" COMPLETE "${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( $#found )); then
		_describe 'NAME' found
	else
		_files
	fi
}
if [[ "$funcstack[1]" = _NAME ]]; then
	_NAME "$@"
else
	compdef _NAME NAME
fi
`,
	"fish": `# fish completion for NAME
function __NAME_found
	set -l typed (commandline -opc)
	set -l current (commandline -ct)
	set -l program $typed[1]
	set -e typed[1]
	command $program COMPLETE $typed "$current" 2>/dev/null
end
complete -c NAME -f -a '(__NAME_found)'
complete -c NAME -n 'test -z "$(__NAME_found)"' -F
`,
}
