// Events of an import for hooks: its completed days in one message, and none for its failure.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHook } from '../../../src/domain/hooks/hook-changes.ts'
import type { SeriesInFile } from '../../../src/domain/rates/export/export-file.ts'
import { ensureHookKey } from '../../../src/store/hooks/key.ts'
import { countCorrections, selectRevisions } from '../../../src/store/rates/change-log.ts'
import { importRates } from '../../../src/sync/import/import.ts'
import { listDays, openDesk } from '../../support/rates/memory-bank.ts'
import { refuseRows } from '../../support/temporary.ts'

const SIDES = { 317: 'compra', 318: 'venta' } as const
const FROM = '1986-01-01'
const TO = '2026-03-24'

async function openHooked(t: Parameters<typeof openDesk>[0]) {
  const desk = await openDesk(t)
  const hook = { url: 'https://a.example/', company_id: null, agent_id: null }
  const events = ['rates.published', 'rates.corrected', 'sync.failed'] as const
  await createHook(desk.db, await ensureHookKey(desk.dataDir), { ...hook, events: [...events] }, 'then')
  const read = async (
    from: string,
    to: string,
    codes: readonly (keyof typeof SIDES)[] = [317, 318],
    value = '500',
  ) => {
    const deps = { ...desk.deps, providers: [desk.bank.provider] }
    const files = codes.map((code) => pairFile(code, listDays(from, to), value))
    const options = { replace: value !== '500', dryRun: false }
    return importRates({ ...deps, signal: new AbortController().signal }, files, options)
  }
  const takeMessages = async () => {
    const rows = await desk.db.selectFrom('hook_messages').selectAll().orderBy('id').execute()
    await desk.db.deleteFrom('hook_messages').execute()
    return rows.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
  }
  return { ...desk, read, takeMessages }
}

function pairFile(code: keyof typeof SIDES, days: readonly string[], value: string): SeriesInFile {
  const series = { provider: 'bccr', series_id: 9, external_code: String(code), pair: 'USD/CRC' }
  const stored_at = '2026-03-24T12:00:00.000Z'
  return {
    series: { ...series, rate_type: SIDES[code] },
    covered: [{ from: days[0] ?? '', to: days.at(-1) ?? '' }],
    values: days.map((day) => ({ day, value, rounded_to: null, stored_at })),
  }
}

test('an import of forty years is one message, with the newest 500 days', async (t) => {
  const { read, takeMessages } = await openHooked(t)
  const [end] = await read(FROM, TO)
  const messages = await takeMessages()
  assert.deepEqual(
    messages.map(({ type, data: { run_id, from, to } }) => ({ type, run_id, from, to })),
    [{ type: 'rates.published', run_id: end?.run?.id, from: FROM, to: TO }],
  )
  assert.deepEqual(messages[0]?.data.days, listDays(FROM, TO).slice(-500))
})

test('`rates.published` has the days of a daily import once, with the second side', async (t) => {
  const { read, takeMessages } = await openHooked(t)
  await read('2026-03-01', '2026-03-20')
  await takeMessages()
  await read('2026-03-01', '2026-03-22')
  assert.deepEqual(
    (await takeMessages()).map(({ data }) => data.days),
    [['2026-03-21', '2026-03-22']],
  )
  await read('2026-03-01', '2026-03-22')
  await read('2026-03-23', '2026-03-23', [317])
  assert.deepEqual(await takeMessages(), [])
  await read('2026-03-23', '2026-03-23', [318])
  assert.deepEqual(
    (await takeMessages()).map(({ data }) => data.days),
    [['2026-03-23']],
  )
})

test('an import that replaces values reports no correction of the bank', async (t) => {
  const { db, read, takeMessages } = await openHooked(t)
  await read('2026-03-01', '2026-03-20')
  await takeMessages()
  await read('2026-03-01', '2026-03-20', [318], '501')
  assert.equal((await selectRevisions(db, { kind: 'correction' })).length, 20)
  assert.deepEqual(await takeMessages(), [])
  assert.equal(await countCorrections(db), 0)
})

test('an import that failed is no failed sync: the one who imports sees it', async (t) => {
  const { db, read, takeMessages } = await openHooked(t)
  await refuseRows(db, 'rates')
  const [end] = await read('2026-03-01', '2026-03-02')
  assert.equal(end?.run?.status, 'error')
  assert.deepEqual(await takeMessages(), [])
})
