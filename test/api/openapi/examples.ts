// Sends the examples of the description; a test compares the answers with the shown ones. `node
// test/api/openapi/examples.ts` writes those again.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceResult } from '../../../src/store/documents/results.ts'
import { insertRevisions } from '../../../src/store/rates/record.ts'
import { batch, CREATE, fillDirectory, pdf, post } from '../../support/directory.ts'
import { openShapes, type TestApp } from '../compat/support.ts'
import { asOtherProcess, send } from '../support.ts'
import type { Document } from './description.ts'
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
    await insertRevisions(db, [
      {
        ...{ series_id: 1, rate_date: '2026-03-20', kind: 'correction', run_id: 1 },
        ...{ old_value: '500.01', new_value: '500.02', old_rounded_to: null, old_stored_at: null },
        replaced_at: '2026-03-21T12:00:00.000Z',
      },
    ])
  })
  const document = JSON.parse((await send(`${app.app.url}/openapi.json`)).body) as Document
  return { app, document }
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
