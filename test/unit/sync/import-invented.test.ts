// Import of invented values: into a store without values, never among those of the bank, and the reverse.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  exportedIndicatorText,
  readIndicatorExport,
} from '../../../src/domain/indicators/indicator-export.ts'
import { readIndicatorFile } from '../../../src/domain/indicators/indicator-export-file.ts'
import { exportedText, readExportData } from '../../../src/domain/rates/export/export.ts'
import { readExport, type SeriesInFile } from '../../../src/domain/rates/export/export-file.ts'
import { openRateCache } from '../../../src/domain/rates/rate-cache.ts'
import { selectProviders, updateInvented } from '../../../src/store/rates/providers.ts'
import { selectRatesOfSeries } from '../../../src/store/rates/rates.ts'
import { importRates } from '../../../src/sync/import/import.ts'
import { importIndicators } from '../../../src/sync/import/indicators.ts'
import { type Desk, openDesk } from '../../support/rates/memory-bank.ts'

type Test = Parameters<typeof openDesk>[0]

const signal = new AbortController().signal
const INDICATOR = { provider: 'bccr', code: '423', name: 'Tasa', unit: null, periodicity: null }
const VALUE = { day: '2026-03-20', value: '4', rounded_to: null, stored_at: '2026-03-21T12:00:00.000Z' }

/** A synced store; `invented`: of a demo. */
async function openStore(t: Test, { invented = false, synced = true } = {}): Promise<Desk> {
  const desk = await openDesk(t)
  if (invented) {
    await updateInvented(desk.db, desk.bank.provider, true)
    desk.bank.provider.isInvented = true
  }
  if (synced) await desk.sync()
  desk.clock.now = new Date('2026-03-24T13:00:00Z') // exports are older than the time of their import
  return desk
}

async function* chunks(text: Iterable<Buffer>) {
  yield* text
}

async function exportRates({ db, bank }: Desk, format: 'csv' | 'ndjson' = 'csv'): Promise<string> {
  const data = await readExportData(db, await openRateCache(db, [bank.provider]))
  return Buffer.concat([...exportedText(data, format)]).toString()
}

function importFiles({ deps, bank }: Desk, files: readonly SeriesInFile[], dryRun = false) {
  return importRates({ ...deps, providers: [bank.provider], signal }, files, { replace: true, dryRun })
}

async function isInvented({ db }: Desk): Promise<boolean> {
  const [row] = await selectProviders(db)
  return row?.invented === true && row.name === 'Valores inventados'
}

for (const format of ['csv', 'ndjson'] as const) {
  test(`an export of invented values marks the store that takes it, ${format}`, async (t) => {
    const demo = await openStore(t, { invented: true })
    const text = await exportRates(demo, format)
    const mark = format === 'csv' ? '# invented,bccr' : '{"invented":"bccr"}'
    assert.equal(text.split('\n').at(-3), mark)
    const target = await openStore(t, { synced: false })
    const files = await readExport(chunks([Buffer.from(text)]))
    await importFiles(target, files, true)
    assert.equal(await isInvented(target), false, 'a dry run stores no mark')
    const [end] = await importFiles(target, files)
    assert.equal(end?.run?.status, 'ok')
    assert.ok(await isInvented(target))
    assert.equal(await exportRates(target, format), text)
    await assert.rejects(target.sync(), /no provider is enabled/)
  })
}

test('an import of invented values is refused among those of the bank, and the reverse', async (t) => {
  const demo = await openStore(t, { invented: true })
  const bank = await openStore(t)
  const invented = await readExport(chunks([Buffer.from(await exportRates(demo))]))
  const published = await readExport(chunks([Buffer.from(await exportRates(bank))]))
  for (const [store, files, error] of [
    [
      bank,
      invented,
      /the values of bccr are of the source here, and invented in the file: nothing was imported/,
    ],
    [
      demo,
      published,
      /the values of bccr are invented here, and of the source in the file: nothing was imported/,
    ],
    [demo, [...invented, ...published.slice(0, 1)], /nothing was imported/],
  ] as const) {
    const before = await selectRatesOfSeries(store.db, 1)
    await assert.rejects(importFiles(store, files), error)
    await assert.rejects(importFiles(store, files, true), error)
    assert.deepEqual(await selectRatesOfSeries(store.db, 1), before)
    assert.equal(await isInvented(store), store === demo)
  }
})

test('a file of both kinds is refused by a store without values', async (t) => {
  const demo = await openStore(t, { invented: true })
  const target = await openStore(t, { synced: false })
  const files = await readExport(chunks([Buffer.from(await exportRates(demo))]))
  const [first, ...rest] = files
  const { invented: _, ...unmarked } = first as SeriesInFile
  await assert.rejects(importFiles(target, [unmarked, ...rest]), /nothing was imported/)
})

test('an export of the bank clears the mark of a store without values', async (t) => {
  const bank = await openStore(t)
  const target = await openStore(t, { invented: true, synced: false })
  await importFiles(target, await readExport(chunks([Buffer.from(await exportRates(bank))])))
  assert.equal(await isInvented(target), false)
})

test('indicators carry the mark, and are refused among values of the other kind', async (t) => {
  const target = await openStore(t, { synced: false })
  const importOne = ({ deps, bank }: Desk, files: Parameters<typeof importIndicators>[1]) =>
    importIndicators(
      { ...deps, providers: [{ ...bank.provider, indicators: true as never }], signal },
      files,
      {
        ...{ replace: true, dryRun: false },
      },
    )
  const covered = [{ from: VALUE.day, to: VALUE.day }]
  await importOne(target, [{ facts: INDICATOR, covered, values: [VALUE], invented: true }])
  assert.ok(await isInvented(target))
  for (const format of ['csv', 'ndjson'] as const) {
    const text = [...exportedIndicatorText(await readIndicatorExport(target.db), format)]
    const [file] = await readIndicatorFile(chunks(text))
    assert.equal(file?.invented, true, format)
  }
  await assert.rejects(
    importOne(target, [{ facts: INDICATOR, covered, values: [VALUE] }]),
    /of the source in the file/,
  )
  const bank = await openStore(t)
  const published = await readExport(chunks([Buffer.from(await exportRates(bank))]))
  await assert.rejects(importFiles(target, published), /are invented here/)
})
