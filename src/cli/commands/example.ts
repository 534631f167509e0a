// Programs to copy, which read rates from a server. The test of each one runs the printed text.

import { readAsset } from '../../runtime/assets.ts'
import { nearest } from '../../values/edit-distance.ts'
import { command, formatTable } from '../command.ts'
import { usageError } from '../help/advice.ts'
import { type Language, messageLanguage } from '../help/locale.ts'

type Example = {
  /** File in src/examples. */
  source: string
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

/** Examples by name, in the order of the list. */
export const EXAMPLES: Record<string, Example> = {
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
}

const NAMES = Object.keys(EXAMPLES)
const MAX_TYPOS = 2
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
    else terminal.out(readAsset(`src/examples/${findExample(word).source}`))
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

/** @throws AppError `usage` for an unknown name, with the nearest one */
function findExample(word: string): Example {
  const entry = EXAMPLES[word]
  if (entry) return entry
  const lower = word.toLowerCase()
  const near =
    nearest(lower, NAMES, MAX_TYPOS) ?? NAMES.find((name) => EXAMPLES[name]?.synonyms.includes(lower))
  throw usageError({ reason: 'unknown-example', word, near, names: NAMES })
}
