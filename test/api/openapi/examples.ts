// Sends the examples of the description; a test compares the answers with the shown ones. `node
// test/api/openapi/examples.ts` writes those again.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceResult } from '../../../src/store/documents/results.ts'
import {
  insertIndicator,
  raiseIndicatorRevision,
  replaceIndicatorCoverage,
  upsertIndicatorValues,
} from '../../../src/store/indicators/changes.ts'
import { closeIndicatorRun, insertIndicatorRun } from '../../../src/store/indicators/open-runs.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { openRateWriter } from '../../../src/store/rates/rate-writer.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { batch, CREATE, fillDirectory, pdf, post } from '../../support/directory.ts'
import { openShapes, type TestApp } from '../compat/support.ts'
import { asOtherProcess } from '../support.ts'
import { type Document, readAllPaths } from './description.ts'
import { collectMessages, MESSAGES_FILE, shownMessages } from './messages.ts'
import { type Sent, sendExample, shownAnswer } from './requests.ts'
import { sendWorkflow, WORKFLOW } from './workflow.ts'

const FILE = join(import.meta.dirname, '../../../src/http/openapi/answers.json')

/** Operations whose example has another status than 200. */
export const UNSENT: Readonly<Record<string, string>> = {
  compat_ecb_stats_eurofxref_eurofxref_hist_90d_xml: 'days before the first sync are missing',
  compat_frankfurter_v2_currencies_csv: 'that service has no such form',
}

/** A server with rates, a directory and a document; its description has the examples. */
export async function openExamples(): Promise<{ app: TestApp; document: Document }> {
  const app = await openShapes()
  await fillDirectory(app)
  await post(app, CREATE, batch(pdf()))
  await asOtherProcess(app, async (db) => {
    await replaceResult(db, 1, '{"emisor":"3101123456","total":"11300.10"}')
    const writer = openRateWriter(db)
    await writer.insertRevisions([
      {
        ...{ series_id: 1, rate_date: '2026-03-20', kind: 'correction', run_id: 1 },
        ...{ old_value: '500.01', new_value: '500.02', old_rounded_to: null, old_stored_at: null },
        replaced_at: '2026-03-21T12:00:00.000Z',
      },
    ])
    await writer.close(await raiseRevision(db))
  })
  await asOtherProcess(app, fillIndicators)
  return { app, document: await readAllPaths(app.app.url) }
}

/** Stores an interest rate and both sides of a counter, with a run. */
async function fillIndicators(db: WriteDb): Promise<void> {
  const facts = { provider_id: 1, periodicity: 'diaria', history_from: null, added_at: 1 }
  const codes = {
    '423': 'Tasa básica pasiva calculada por el BCCR',
    '3149': 'Banco Nacional',
    '3208': 'Banco Nacional',
  }
  const values = { '423': '3.82', '3149': '495', '3208': '509.5' }
  for (const [code, name] of Object.entries(codes)) {
    const unit = code === '423' ? 'porcentaje anual' : 'CRC por USD'
    await insertIndicator(db, { ...facts, code, name, unit })
    const days = { from: '2026-03-01', to: '2026-03-24' }
    await replaceIndicatorCoverage(db, code, { before: [], after: [days], at: 2 })
  }
  await upsertIndicatorValues(
    db,
    Object.entries(values).map(([code, value]) => ({ code, value, value_date: '2026-03-23', stored_at: 2 })),
  )
  const at = '2026-03-24T11:00:01.000Z'
  const run = {
    provider_id: 1,
    trigger: 'scheduler',
    date_from: '2026-03-10',
    date_to: '2026-03-25',
  } as const
  const id = await insertIndicatorRun(db, { ...run, started_at: at })
  const end = { inserted: 3, updated: 0, unchanged: 0, status: 'ok', message: null, history: 0 } as const
  await closeIndicatorRun(db, id, { ...end, finished_at: at, token_hash: null })
  await raiseIndicatorRevision(db, new Date(at))
}

/** The answers to the examples of all operations except `UNSENT`. */
export async function sendExamples({ app, document }: { app: TestApp; document: Document }): Promise<Sent[]> {
  const answers: Sent[] = []
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const { operationId } = operation
      if (operationId in UNSENT || WORKFLOW.includes(operationId)) continue
      answers.push(await sendExample(app, { path, method, operation }))
    }
  }
  return [...answers, ...(await sendWorkflow(document))]
}

if (import.meta.main) {
  const messages = shownMessages(await collectMessages())
  writeFileSync(MESSAGES_FILE, `${JSON.stringify(messages, null, 1)}\n`) // first: the description reads them
  const answers = await sendExamples(await openExamples())
  const examples = answers.flatMap((exchange) => {
    if (exchange.status !== 200) process.stderr.write(`${exchange.id}: ${exchange.status} ${exchange.text}\n`)
    const answer = exchange.status === 200 ? shownAnswer(exchange) : undefined
    return answer ? [[exchange.id, answer]] : []
  })
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(examples), null, 1)}\n`)
  process.exit(0)
}
