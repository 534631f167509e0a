// Completion for shells, built from the list of commands and the table of options. The scripts contain all words, so
// they do not run the program while the user types.

import { AppError } from '../../runtime/errors.ts'
import { type Command, command } from '../command.ts'
import { loadCommands } from '../commands.ts'
import type { Option } from '../options/names.ts'
import { OPTIONS } from '../options/options.ts'

const SHELLS = ['bash', 'zsh']

/** Prints the script of a shell. */
export const completion = command({
  name: 'completion',
  positionals: [SHELLS.join('|')],
  options: [],
  ignoresService: true,
  async run({ positionals: [shell = ''], terminal }) {
    if (!SHELLS.includes(shell)) {
      throw new AppError(
        'usage',
        `there is completion for ${SHELLS.join(' and ')}, not for ${JSON.stringify(shell)}`,
      )
    }
    terminal.out(completionScript(shell, await loadCommands()))
  },
})

/** Returns the script of a shell, `bash` or `zsh`. */
export function completionScript(shell: string, commands: readonly Command[]): string {
  return shell === 'bash' ? bash(commands) : zsh(commands)
}

/** Returns the candidates for a value or a word: files, directories, a list of words, or none. */
function completionKind(value: string | undefined, choices?: readonly string[]): string {
  if (choices) return choices.join(' ')
  if (value === 'FILE' || value === 'FILE…') return '<files>'
  if (value === 'DIR') return '<directories>'
  return value !== undefined && /^[a-z|]+$/.test(value) ? value.replaceAll('|', ' ') : ''
}

/**
 * Returns two functions that both shells understand. `_cambista_kind` sets the candidates for the value of a flag,
 * `_cambista_words` those for a word after the words before it.
 */
function lookupFunctions(commands: readonly Command[]): string {
  const optionsWithValue = Object.entries<Option>(OPTIONS).filter(([, { value }]) => value !== undefined)
  const kinds = Map.groupBy(optionsWithValue, ([, { value, format }]) =>
    completionKind(value, format.choices),
  )
  const flagLines = [...kinds].map(
    ([kind, options]) => `    ${options.map(([name]) => `--${name}`).join('|')}) kind='${kind}' ;;`,
  )
  const firstWords = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]
  const groupLines = firstWords.flatMap((first) => {
    const subcommands = commands.filter(({ name }) => name.startsWith(`${first} `))
    const list = subcommands.map(({ name }) => name.slice(first.length + 1)).join(' ')
    return subcommands.length === 0 ? [] : [`    '${first} ') list='${list}' flags=--help ;;`]
  })
  const commandLines = commands.map(({ name, options, positionals, choices }) => {
    const flags = [...options, 'help'].map((option) => `--${option}`).join(' ')
    // Each word after the name of a command with a repeatable word is such an operand.
    const nameLength = positionals[0]?.endsWith('…') ? `\${#names[@]}` : name.split(' ').length
    return `    '${name} '*) nameLength=${nameLength} operand='${completionKind(positionals[0], choices)}' flags='${flags}' ;;`
  })
  return `_cambista_kind() {
  case $1 in
${flagLines.join('\n')}
    *) return 1 ;;
  esac
}
_cambista_words() {
  case $1 in
    ' ') list='${[...firstWords, 'help'].join(' ')}' flags='--help --version' ;;
${[...groupLines, ...commandLines].join('\n')}
  esac
}
`
}

// Bash also splits words at = and :, and a completion replaces only the text after the last split.
function bash(commands: readonly Command[]): string {
  return `# Completion of cambista for bash: source this.
${lookupFunctions(commands)}_cambista() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at word value= before= kind= list= flags= operand= nameLength=-1
  local -a names=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ $word == '=' ]]; then value=1
    elif [[ $word == ':' ]]; then value=1 before=\${COMP_WORDS[at - 1]}:
    elif [[ $value ]]; then value= before=
    elif [[ $word == -* ]]; then _cambista_kind "$word" && value=1
    else names+=("$word"); fi
  done
  if [[ $cur == '=' ]]; then cur= value=1
  elif [[ $cur == ':' ]]; then before=\${COMP_WORDS[COMP_CWORD - 1]}: cur= value=1; fi
  if [[ ! $value ]]; then
    _cambista_words "\${names[*]} "
    kind=$list
    ((\${#names[@]} == nameLength)) && kind=$operand
    [[ $cur == -* ]] && kind=$flags
  fi
  case $kind in
    '<files>') compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    '<directories>') compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$kind" -- "$before$cur")
      COMPREPLY=("\${COMPREPLY[@]#"$before"}") ;;
  esac
}
complete -F _cambista cambista
`
}

function zsh(commands: readonly Command[]): string {
  return `#compdef cambista
# Completion of cambista for zsh: source this, or save it as _cambista in a directory of $fpath.
${lookupFunctions(commands)}_cambista() {
  local word value= kind= list= flags= operand= nameLength=-1
  local -a names
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $value ]]; then value=
    elif [[ $word == -*=* ]]; then :
    elif [[ $word == -* ]]; then _cambista_kind $word && value=1
    else names+=("$word"); fi
  done
  if [[ -z $value && \${words[CURRENT]} == --*=* ]]; then
    _cambista_kind \${words[CURRENT]%%=*}
    compset -P '*='
  elif [[ -z $value ]]; then
    _cambista_words "\${names[*]} "
    kind=$list
    ((\${#names} == nameLength)) && kind=$operand
    [[ \${words[CURRENT]} == -* ]] && kind=$flags
  fi
  case $kind in
    '<files>') _files ;;
    '<directories>') _files -/ ;;
    *) compadd -- \${=kind} ;;
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _cambista "$@"; else compdef _cambista cambista; fi
`
}
