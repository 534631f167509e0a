// Makes the man page cambista(1) of the tables that `--help` prints: commands, options, and the English help.txt.
// The program itself has no code for it.

import { loadCommands } from '../cli/commands.ts'
import { helpTexts } from '../cli/help/texts.ts'
import { commandUsage, flagText } from '../cli/help.ts'
import { CALL_ONLY, OPTIONS, requireOption } from '../cli/options/options.ts'
import { SETTINGS_FILE } from '../cli/parse/settings.ts'
import { DATA_DIR } from '../cli/service/service-names.ts'

/** Returns the page. `epoch`: Unix seconds of its date. */
export async function manPage({ version, epoch }) {
  const commands = await loadCommands()
  const texts = helpTexts('en')
  const { summary, about, example } = texts.command('cambista')
  const counts = Map.groupBy(
    commands.flatMap(({ options }) => options),
    (name) => name,
  )
  const isShared = (name, command) =>
    counts.get(name).length > 1 &&
    !command.overrides?.[name] &&
    texts.option(name) === texts.option(name, command.name)
  const shared = Object.keys(OPTIONS).filter((name) =>
    commands.some((command) => command.options.includes(name) && isShared(name, command)),
  )
  const date = new Date(epoch * 1000).toISOString().slice(0, 10)
  return `${[
    `.TH CAMBISTA 1 "${date}" "cambista ${version}" "User Commands"`,
    '.SH NAME',
    `cambista \\- ${roff(summary)}`,
    '.SH SYNOPSIS',
    '.B cambista',
    '.I COMMAND',
    '[flags]',
    '.SH DESCRIPTION',
    ...prose(about),
    '.SH COMMANDS',
    ...texts.groups.flatMap(({ title, commands: names }) => [
      `.SS ${roff(title)}`,
      ...names.flatMap((name) => {
        const command = commands.find((one) => one.name === name)
        return command ? commandEntry(command, { texts, isShared }) : []
      }),
    ]),
    '.SH OPTIONS',
    'These are options of several commands.',
    ...shared.flatMap((name) => optionEntry(name, { texts })),
    ...entry('\\fB\\-\\-help\\fR', [roff(`${texts.option('help')} *`)]),
    '.SH ENVIRONMENT',
    ...prose(
      'Each option but those marked * is an environment variable too: --data-dir is CAMBISTA_DATA_DIR.',
    ),
    '.SH FILES',
    ...entry(file(SETTINGS_FILE), ['Settings of the service, which each command reads.']),
    ...entry(file(DATA_DIR), ['Data directory of the service.']),
    '.SH EXAMPLES',
    ...prose(`  ${example}`),
    '.SH SEE ALSO',
    ...prose('cambista manual prints longer texts, in English and Spanish.'),
  ].join('\n')}\n`
}

function commandEntry(command, { texts, isShared }) {
  const { summary, about } = texts.command(command.name)
  const own = command.options.filter((name) => !isShared(name, command))
  const others = command.options.filter((name) => isShared(name, command))
  return [
    ...entry(`\\fBcambista ${roff(commandUsage(command, texts))}\\fR`, [roff(summary)]),
    '.RS',
    ...(about ? ['.PP', ...prose(about)] : []),
    ...own.flatMap((name) => optionEntry(name, { texts, command })),
    ...(others.length > 0
      ? ['.PP', `See OPTIONS: ${roff(others.map((name) => `--${name}`).join(', '))}.`]
      : []),
    '.RE',
  ]
}

function optionEntry(name, { texts, command }) {
  const { fallback } = requireOption(name, command?.overrides)
  const text = texts.option(name, command?.name)
  const isFlag = CALL_ONLY.has(name) || command?.overrides?.[name]
  const fullText = fallback === undefined ? text : `${text} (${texts.text('default', { text: fallback })})`
  return entry(`\\fB${roff(flagText(name, command?.overrides, texts))}\\fR`, [
    roff(isFlag ? `${fullText} *` : fullText),
  ])
}

function entry(term, lines) {
  return ['.TP', term, ...lines]
}

function file(path) {
  return `\\fI${roff(path)}\\fR`
}

/** Formats paragraphs of the help. Indented lines are commands or files, and are not filled. */
function prose(text) {
  const lines = []
  let isExample = false
  for (const line of text.trimEnd().split('\n')) {
    if (line.startsWith(' ') !== isExample && line !== '') {
      lines.push(isExample ? '.EE' : '.EX')
      isExample = !isExample
    }
    lines.push(line === '' ? (isExample ? '' : '.PP') : roff(line))
  }
  return isExample ? [...lines, '.EE'] : lines
}

/** Escapes a line for roff, so that quotes and hyphens stay those of ASCII. */
function roff(line) {
  const escaped = line
    .replace(/\\/g, '\\(rs')
    .replace(/-/g, '\\-')
    .replace(/'/g, '\\(aq')
    .replace(/`/g, '\\(ga')
    .replace(/\^/g, '\\(ha')
    .replace(/~/g, '\\(ti')
  return escaped.replace(/^\./, '\\&.')
}
