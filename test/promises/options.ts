// The lists of options in the manual. `node test/promises/options.ts` writes them from the options of the program.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type HelpTexts, helpTexts } from '../../src/cli/help/texts.ts'
import { flagText } from '../../src/cli/help.ts'
import {
  CALL_ONLY,
  CLUSTER_ONLY,
  OPTIONS,
  type OptionName,
  requireOption,
} from '../../src/cli/options/options.ts'

const ROOT = join(import.meta.dirname, '../..')
const WIDTH = 120
const PAGES = [
  { path: 'src/manual/options.md', texts: helpTexts('en') },
  { path: 'src/manual/es/options.md', texts: helpTexts('es') },
]

/** Pages of the manual, and their texts with the options of the program: of one machine, then of several nodes. */
export function optionPages(): { path: string; text: string; expected: string }[] {
  return PAGES.map(({ path, texts }) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const lists = [listOptions(texts, false), listOptions(texts, true)]
    return { path, text, expected: text.replace(/(?<=\n\n)- `--(?:.+\n)+/g, () => lists.shift() ?? '') }
  })
}

function listOptions(texts: HelpTexts, isCluster: boolean): string {
  return (Object.keys(OPTIONS) as OptionName[])
    .filter((name) => !CALL_ONLY.has(name) && CLUSTER_ONLY.has(name) === isCluster)
    .map((name) => {
      const { fallback } = requireOption(name)
      const value = fallback === undefined ? '' : ` (\`${fallback}\`)`
      return wrapItem(`- \`${flagText(name, {}, texts)}\`${value}: ${texts.option(name)}`)
    })
    .join('')
}

/** Breaks an item between words, never inside of code. */
function wrapItem(item: string): string {
  const lines = ['']
  for (const word of item.match(/`[^`]+`\S*|\S+/g) ?? []) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = lines.length === 1 ? word : `  ${word}`
    else if (line.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(`  ${word}`)
  }
  return `${lines.join('\n')}\n`
}

if (import.meta.main) {
  for (const { path, expected } of optionPages()) writeFileSync(join(ROOT, path), expected)
}
