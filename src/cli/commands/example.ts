// Programs to copy, which read rates from a server. The test of each one runs the printed text.

import { posix } from 'node:path'
import { readAsset } from '../../runtime/assets.ts'
import { nearest } from '../../values/edit-distance.ts'
import { command, formatTable } from '../command.ts'
import { usageError } from '../help/advice.ts'
import { type Language, messageLanguage } from '../help/locale.ts'

type Example = {
  /** File or folder in src/examples. */
  source: string
  /** Files of a folder, which is printed as a script that writes them. */
  files?: readonly string[]
  /** Its usual file name. */
  target: string
  /** Names that people type for it. */
  synonyms: readonly string[]
  note: Record<Language, string>
}

const testNote = (runtime: string): Record<Language, string> => ({
  en: `tested with ${runtime}`,
  es: `probado con ${runtime}`,
})

const ODOO_MODULE = 'odoo/currency_rate_update_cambista'

/** Examples by name, in the order of the list. */
export const EXAMPLES: Record<string, Example> = {
  odoo: {
    source: 'odoo',
    files: [
      '__manifest__.py',
      '__init__.py',
      'data/job.xml',
      'i18n/es.po',
      'models/__init__.py',
      'models/cambista.py',
      'models/cambista_messages.py',
      'models/cambista_run.py',
      'models/res_currency_rate_provider_cambista.py',
      'models/res_currency_rate_update_wizard.py',
      'views/res_currency_rate_provider.xml',
    ].map((name) => `${ODOO_MODULE}/${name}`),
    target: 'odoo.sh',
    synonyms: ['oca', 'openerp', 'currency_rate_update'],
    note: {
      en: 'for OCA currency_rate_update; tested with stand-ins of Odoo 16.0 to 18.0',
      es: 'para currency_rate_update de OCA; probado con simulaciones de Odoo 16.0 a 18.0',
    },
  },
  python: {
    source: 'python.py',
    target: 'cambista.py',
    synonyms: ['py', 'python3', 'django'],
    note: testNote('Python 3.11'),
  },
  php: {
    source: 'php.php',
    target: 'cambista.php',
    synonyms: ['laravel', 'wordpress'],
    note: testNote('PHP 8.2'),
  },
  csharp: {
    source: 'csharp.cs',
    target: 'Cambista.cs',
    synonyms: ['c#', 'cs', 'dotnet', '.net', 'net', 'mono'],
    note: testNote('Mono 6.8'),
  },
  java: {
    source: 'java.java',
    target: 'Cambista.java',
    synonyms: ['jdk', 'openjdk', 'kotlin', 'spring'],
    note: testNote('OpenJDK 17'),
  },
  'google-sheets': {
    source: 'google-sheets.gs',
    target: 'cambista.gs',
    synonyms: ['google', 'sheets', 'apps-script', 'appsscript', 'gs'],
    note: {
      en: 'tested with Node 26 and fakes of the services of Apps Script',
      es: 'probado con Node 26 y simulaciones de los servicios de Apps Script',
    },
  },
}

const NAMES = Object.keys(EXAMPLES)
const MAX_TYPOS = 2
const END_OF_FILE = 'END_OF_FILE'
const SCRIPT_START = `#!/bin/sh
# Writes the files below into a folder: sh FILE FOLDER. For Odoo, FOLDER is one of its addons_path.
set -eu
cd "\${1:?FOLDER is missing}"
`
const LIST = {
  en: {
    heading: 'Programs that read rates from a server:',
    closing: 'cambista example NAME > FILE prints one. Each explains itself at its top.',
  },
  es: {
    heading: 'Programas que leen tipos de cambio de un servidor:',
    closing: 'cambista example NOMBRE > ARCHIVO imprime uno. Cada uno se explica en su inicio.',
  },
}

export const example = command({
  name: 'example',
  positionals: ['[NAME]'],
  choices: NAMES,
  options: [],
  ignoresService: true,
  async run({ positionals: [word], terminal }) {
    if (word === undefined) terminal.out(exampleList(messageLanguage(terminal.env)))
    else terminal.out(exampleText(findExample(word)))
  },
})

function exampleList(language: Language): string {
  const { heading, closing } = LIST[language]
  const rows = Object.entries(EXAMPLES).map(([name, { target, note }]) => [
    `  ${name}`,
    target,
    note[language],
  ])
  return `${heading}\n${formatTable(rows).join('\n')}\n\n${closing}\n`
}

function exampleText({ source, files }: Example): string {
  if (!files) return readAsset(`src/examples/${source}`)
  const folders = new Set(files.map((name) => posix.relative(source, posix.dirname(name))))
  const parts = files.map((name) => {
    const text = readAsset(`src/examples/${name}`)
    return `cat > ${posix.relative(source, name)} <<'${END_OF_FILE}'\n${text}${END_OF_FILE}\n`
  })
  return `${SCRIPT_START}mkdir -p ${[...folders].join(' ')}\n\n${parts.join('\n')}`
}

/** @throws AppError `usage` for an unknown name, with the nearest one */
function findExample(word: string): Example {
  const entry = EXAMPLES[word]
  if (entry && NAMES.includes(word)) return entry // `constructor` is a property of each object
  const lower = word.toLowerCase()
  const near =
    nearest(lower, NAMES, MAX_TYPOS) ?? NAMES.find((name) => EXAMPLES[name]?.synonyms.includes(lower))
  throw usageError({ reason: 'unknown-example', word, near, names: NAMES })
}
