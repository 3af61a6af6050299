package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// completions ask a shell what it makes of the last word of a command line.
var completions = map[string]string{
	"bash": `source "$SCRIPT"; read -ra COMP_WORDS <<< "$LINE"; [[ "$LINE" == *' ' ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _deepoj; printf '%s\n' "${COMPREPLY[@]}"; complete -p deepoj`,
	"fish": `source $SCRIPT; complete -C "$LINE"`,
	"zsh": `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; source "$SCRIPT"; zstyle ":completion:*" list-separator :; LISTMAX=1000; COLUMNS=500'
zpty -w shell 'told() { print -r -- "LINE:[$BUFFER]"; exit }; zle -N told; bindkey "^X" told; print READY"NOW"'
while zpty -r shell line; do [[ $line == *READYNOW* ]] && break; done
zpty -w -n shell "$LINE"$'\t\t'; zpty -w -n shell $'\x18'
while zpty -r shell line; do print -r -- "$line"; [[ $line == *LINE:* ]] && break; done; exit 0`,
}

func TestShellsCompleteCommandsFlagsAndFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(programIn(t))
	if err := os.WriteFile(filepath.Join(dir, "unique-file.cpp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for shell, s := range completions {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			at, err := exec.LookPath(shell)
			if err != nil {
				if os.Getenv("DEEPOJ_TEST") == "require" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			status, script, errs := call(t, nil, "completion", shell)
			if status != 0 {
				t.Fatal(errs)
			}
			file := filepath.Join(dir, "completion."+shell)
			if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			ask := func(line string) string {
				t.Helper()
				cmd := exec.Command(at, "-c", s)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SCRIPT="+file, "LINE="+line, "HOME="+dir, "TERM=dumb")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v: %s", line, err, out)
				}
				return string(out)
			}
			for line, want := range map[string]string{
				"deepoj submi":                        "submit",
				"deepoj problem ver":                  "verify",
				"deepoj space member a":               "add",
				"deepoj submit --langu":               "--language",
				"deepoj user create --role conte":     "contestant",
				"deepoj completion f":                 "fish",
				"deepoj help dl":                      "dlq",
				"deepoj submit --wait unique-file.cp": "unique-file.cpp",
			} {
				got := ask(line)
				if shell == "bash" && strings.HasSuffix(want, ".cpp") { // the function leaves files to the shell
					want = "complete -o default -F _deepoj deepoj"
				}
				if !strings.Contains(got, want) {
					t.Errorf("%q may become %q, want %s among it", line, got, want)
				}
			}
			for line, hidden := range map[string]string{"deepoj worker --sand": "--sandbox-fd", "deepoj sandb": "sandbox", "deepoj comple": "complete\n"} {
				if got := ask(line); strings.Contains(got, hidden) {
					t.Errorf("%q may become %q, which is for the program itself", line, got)
				}
			}
		})
	}
}
