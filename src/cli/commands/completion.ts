import { Argument, type Command } from "commander";
import type { App } from "../app/app.ts";
import { command } from "../flags/command.ts";

/** `cat completion`: prints the script for a shell. */
export const completionCommand = (app: App): Command =>
  command("completion", {
    usage: "SHELL [flags]",
    about:
      "Print a script that completes commands, flags, profiles, references and model IDs on Tab, for cat and catalogue. " +
      "References and IDs are those that the last list on a terminal showed. Names of files are completed as before.",
    examples: [
      ["complete in this bash or zsh", "source <(catalogue completion bash)"],
      ["complete in fish", "catalogue completion fish | source"],
      ["complete in PowerShell", "catalogue completion powershell | Out-String | Invoke-Expression"],
    ],
  })
    .addArgument(new Argument("<SHELL>", "your shell").choices(shells))
    .action(async (shell: (typeof shells)[number]) => {
      const script = { bash, zsh, fish, powershell }[shell];
      await (app.io.json ? app.io.jsonData({ shell, script }) : app.io.data(script));
    });

const shells = ["bash", "zsh", "fish", "powershell"] as const;

/*
 * Each script runs `catalogue __complete NAME WORD ...` with the words up to the cursor. It calls
 * `catalogue`, because another `cat` may come first on PATH; without it, names of files are completed as
 * before.
 */

const bash = `# Completion of cat and catalogue in bash. Add to ~/.bashrc: source <(catalogue completion bash)
_catalogue_complete() {
  # The words up to the cursor without their quotes. bash itself splits at : and =, and keeps quotes. It replaces the
  # last word only from "cut" on.
  local line="\${COMP_LINE:0:COMP_POINT}" words=() plain= begun= quote= cut=0 outer=0 target= char i
  for ((i = 0; i < \${#line}; i++)); do
    char="\${line:i:1}"
    case "$quote$char" in
      "''" | '""') quote= cut=$outer ;;
      '"\\') [[ "\${line:i+1:1}" == [\\$\\\`\\"\\\\] ]] && ((++i)); plain+="\${line:i:1}" ;;
      [\\'\\"]?*) plain+="$char" ;;
      \\\\) ((++i)); plain+="\${line:i:1}" begun=1 ;;
      [\\'\\"]) quote="$char" outer=$cut cut=\${#plain} begun=1 ;;
      [[:blank:]\\<\\>])
        [ -n "$begun" ] && [ -z "$target" ] && words+=("$plain")
        if [[ "$char" == [\\<\\>] ]]; then target=1; elif [ -n "$begun" ]; then target=; fi
        plain= begun= cut=0 ;;
      # An @ belongs to the word that it starts.
      @) [[ "$COMP_WORDBREAKS" == *@* ]] && cut=\${#plain}; plain+=@ begun=1 ;;
      *) plain+="$char" begun=1; [[ "$COMP_WORDBREAKS" == *"$char"* ]] && cut=\${#plain} ;;
    esac
  done
  words+=("$plain")
  local candidate files= flag= found=()
  while IFS= read -r candidate; do
    case "$candidate" in
      :files) files=1 ;;
      :) ;;
      *) candidate="\${candidate%%$'\\t'*}"; found+=("\${candidate:cut}") ;;
    esac
  done < <([ -n "$target" ] || catalogue __complete "\${1##*/}" "\${words[@]:1}" 2>/dev/null || echo :files)
  [ -n "$target" ] && files=1
  COMPREPLY=()
  if [ -n "$files" ]; then
    # Readline adds the quotes.
    compopt -o filenames 2>/dev/null
    COMPREPLY=("\${found[@]}")
    [[ "$plain" == --*=* ]] && flag="\${plain%%=*}="
    while IFS= read -r candidate; do
      candidate="$flag$candidate"
      COMPREPLY+=("\${candidate:cut}")
    done < <(compgen -f -- "\${plain#"$flag"}")
    return
  fi
  for candidate in "\${found[@]}"; do
    case "$quote" in
      \\') candidate="\${candidate//\\'/\\'\\\\\\'\\'}" ;;
      \\") candidate="$(sed 's/[\\\\"$\`]/\\\\&/g' <<< "$candidate")" ;;
      *) [ -n "$candidate" ] && printf -v candidate %q "$candidate" ;;
    esac
    COMPREPLY+=("$candidate")
  done
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
  done < <(catalogue __complete "\${words[1]:t}" "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null || echo :files)
  (( $#words_found )) && compadd -l -d descriptions -a words_found
  # The file of --flag=FILE.
  [[ -n "$files" && "$PREFIX" == --*=* ]] && compset -P '--*='
  [[ -n "$files" ]] && _files
}
compdef _catalogue_complete cat catalogue
`;

const fish = `# Completion of cat and catalogue in fish. Run: catalogue completion fish > ~/.config/fish/completions/catalogue.fish
# and put the same text into ~/.config/fish/completions/cat.fish
function __catalogue_complete
    set -l words (commandline -opc)
    set -l name (string replace -r '.*/' '' -- $words[1])
    # The word without its quotes, which may be unfinished.
    set -l token (commandline -ct)
    set -l typed (string unescape -- $token; or string unescape -- $token\\"; or string unescape -- $token\\'; or echo $token)
    set -l found (catalogue __complete $name $words[2..-1] "$typed" 2>/dev/null; or echo :files)
    for line in $found
        switch $line
            case ':files'
                # The files that fish completes for any other command.
                set -l flag (string match -r '^--[^=]*=' -- $token)
                for path in (complete -C "'' "(string replace -- "$flag" '' "$token"))
                    echo "$flag$path"
                end
            case ':'
            case '*'
                echo $line
        end
    end
end
complete -c cat -f -a '(__catalogue_complete)'
complete -c catalogue -f -a '(__catalogue_complete)'
`;

const powershell = `# Completion of catalogue in PowerShell 7.3 and later. Add to $PROFILE:
# catalogue completion powershell | Out-String | Invoke-Expression
# There cat is an alias of Get-Content: remove it with Remove-Alias cat to complete cat as well.
Register-ArgumentCompleter -Native -CommandName 'cat', 'catalogue' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition })
    # Words without their quotes; the last one may be empty, or unfinished.
    $words = @($elements | ForEach-Object { if ($null -ne $_.Value) { [string]$_.Value } else { $_.Extent.Text } })
    if ($elements[-1].Extent.EndOffset -lt $cursorPosition) { $words += '' }
    $name = [IO.Path]::GetFileNameWithoutExtension($words[0])
    foreach ($line in @(catalogue __complete $name @($words | Select-Object -Skip 1) 2>$null)) {
        # Without any result PowerShell completes names of files.
        if ($line -eq ':' -or $line -eq ':files') { continue }
        $word, $about = $line -split "\`t", 2
        if (-not $about) { $about = $word }
        $text = if ($word -match '^[\\w./:=+-]+$') { $word } else { "'" + $word.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $about)
    }
}
`;
