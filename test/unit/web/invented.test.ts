// Texts of a page with invented values: none names the bank as the source of a value.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { renameSource } from '../../../src/web/i18n/invented-source.ts'
import { inLanguage, rename, source, type TextTable, textTable } from '../../../src/web/i18n/table-texts.ts'

const FOLDER = join(import.meta.dirname, '../../../src/web/i18n')
const BANK = /BCCR|Banco Central|[Cc]entral [Bb]ank/
const LAW = /\b(?:Ley|Law) \d/
/** Values that texts take: names, lists and counts. */
const VALUES: readonly (readonly unknown[])[] = [
  ['A', 'B', 'C', 'D'],
  [['A', 'B'], 'y'],
  [2, 'B', 2, 2],
]

afterEach(() => {
  rename.value = undefined
})

/** Lists the texts of a table in a language. */
function listTexts(texts: object): string[] {
  return Object.values(texts).flatMap((text) => {
    if (typeof text === 'string') return [text]
    return typeof text === 'function' ? fillText(text) : listTexts(text)
  })
}

function fillText(fill: (...values: unknown[]) => unknown): string[] {
  return VALUES.flatMap((values) => {
    try {
      return [String(fill(...values))]
    } catch {
      return [] // takes other values
    }
  })
}

for (const language of ['es', 'en'] as const) {
  test(`no text names the bank where values are invented, ${language}`, async () => {
    rename.value = renameSource
    let renamed = 0
    for (const file of readdirSync(FOLDER)) {
      const tables = Object.values((await import(join(FOLDER, file))) as Record<string, unknown>)
      for (const table of tables.filter(
        (one) => typeof one === 'object' && one !== source && one !== rename,
      )) {
        for (const text of listTexts(inLanguage(table as TextTable, language))) {
          assert.ok(LAW.test(text) || !BANK.test(text), `${file}: ${text}`)
          renamed += /invent/i.test(text) ? 1 : 0
        }
      }
    }
    assert.ok(renamed > 30, `${renamed} texts`)
  })
}

const TABLE = textTable({
  source: ['Fuente: Banco Central de Costa Rica, paridad', 'Source: Banco Central de Costa Rica, parity'],
  by: ['El BCCR corrigió', 'The Central Bank of Costa Rica (BCCR) corrected'],
  rate: ['BCCR, tipo de cambio', 'BCCR reference exchange rate'],
  law: ['Ley 7092: venta del BCCR', 'Law 7092: the BCCR’s rate'],
  issuer: (name: string, count: number) => [`${name}, ${count} del BCCR`, `${name}, ${count} of the BCCR`],
})

test('texts of the bank are as they are written', () => {
  assert.equal(inLanguage(TABLE, 'es').by, 'El BCCR corrigió')
  assert.equal(inLanguage(TABLE, 'en').issuer('BCCR', 2), 'BCCR, 2 of the BCCR')
})

test('laws and names of issuers are not renamed', () => {
  rename.value = renameSource
  const [es, en] = [inLanguage(TABLE, 'es'), inLanguage(TABLE, 'en')]
  const own = [
    'Fuente: Valores inventados, paridad',
    'El banco inventado corrigió',
    'Valores inventados, tipo de cambio',
  ]
  assert.deepEqual([es.source, es.by, es.rate], own)
  assert.deepEqual(
    [en.source, en.by, en.rate],
    ['Source: Invented values, parity', 'The invented bank corrected', 'Invented reference exchange rate'],
  )
  assert.deepEqual([es.law, en.law], [TABLE.law[0], TABLE.law[1]])
  assert.equal(es.issuer('Banco Central S.A. (BCCR)', 2), 'Banco Central S.A. (BCCR), 2 del banco inventado')
})
