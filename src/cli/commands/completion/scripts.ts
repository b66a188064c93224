/** The shells for which there is a script. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/*
 * Each script runs `catalogue __complete NAME WORD ...` with the words up to the cursor. It calls `catalogue`, because
 * another `cat` may come first on PATH; without it, names of files are completed as before.
 */

const bash = `# Completion of cat and catalogue in bash. Add to ~/.bashrc: source <(catalogue completion bash)
_catalogue_complete() {
  local line files= about current="\${COMP_WORDS[COMP_CWORD]}"
  [ "$current" = "=" ] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files) files=1 ;;
      :) ;;
      *) line="\${line%%$'\\t'*}"; COMPREPLY+=("$(printf '%q' "$line")") ;;
    esac
  done < <(catalogue __complete "\${1##*/}" "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null || echo :files)
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  fi
}
complete -F _catalogue_complete cat catalogue
`;

const zsh = `#compdef cat catalogue
# Completion of cat and catalogue in zsh. Add to ~/.zshrc after compinit: source <(catalogue completion zsh)
_catalogue_complete() {
  local line files= word
  local -a words_found descriptions
  while IFS= read -r line; do
    case "$line" in
      :files) files=1 ;;
      :) ;;
      *) word="\${line%%$'\\t'*}"
         words_found+=("$word")
         if [[ "$line" == *$'\\t'* ]]; then descriptions+=("$word  -- \${line#*$'\\t'}"); else descriptions+=("$word"); fi ;;
    esac
  done < <(catalogue __complete "\${words[1]:t}" "\${(@)words[2,CURRENT]}" 2>/dev/null || echo :files)
  (( $#words_found )) && compadd -l -d descriptions -a words_found
  [[ -n "$files" ]] && _files
}
compdef _catalogue_complete cat catalogue
`;

const fish = `# Completion of cat and catalogue in fish. Run: catalogue completion fish > ~/.config/fish/completions/catalogue.fish
# and put the same text into ~/.config/fish/completions/cat.fish
function __catalogue_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l name (string replace -r '.*/' '' -- $words[1])
    set -l found (catalogue __complete $name $words[2..-1] 2>/dev/null; or echo :files)
    for line in $found
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':'
            case '*'
                echo $line
        end
    end
end
complete -c cat -f -a '(__catalogue_complete)'
complete -c catalogue -f -a '(__catalogue_complete)'
`;

/** The script of each shell. */
export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
