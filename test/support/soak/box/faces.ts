// Starts the clients of all faces of one box, beside those of the soak of nodes. Checks their knowledge at the end.

import type { TestContext } from 'node:test'
import { addDays } from '../../../../src/values/dates.ts'
import { TOKENS } from '../../directory.ts'
import { until } from '../../terminal.ts'
import { type Clients, startClients } from '../clients.ts'
import type { Bookkeeping } from '../rates.ts'
import { count, fault, parseAnswer, request, type Soak } from '../world.ts'
import { workByTools } from './agents.ts'
import { makeBackups } from './backups.ts'
import { SLOW_DISK, WITHOUT_SLOW_DISK } from './disturbances.ts'
import { checkHooks, receiveHooks } from './hooks.ts'
import { readIndicators } from './indicators.ts'
import { checkMails, sendMails } from './mails.ts'
import { readPage } from './page.ts'
import { readShapes } from './shapes.ts'
import { HISTORY_FROM, type Surroundings } from './surroundings.ts'

export type Faces = Clients & {
  /** Checks hooks, mails and invoices, after all work is done. */
  check(): Promise<void>
}

export type FacesOptions = { books: Bookkeeping; backupEveryMs: number }

const COUNTS = { uploaders: 3, workers: 3, ratesReaders: 2 }
/** Counts that each face must reach while the soak runs. */
const FACES = [
  ...['values compared', 'answers of shapes compared', 'values of indicators compared'],
  ...['ecb', 'banguat', 'trm', 'banxico'].map((code) => `values of ${code} compared`),
  ...['upload as JSON 200', 'upload as body 200', 'upload as form 200'],
  ...['tool convert', 'tool finish_document', 'messages of document.created'],
  ...['mails delivered', 'days of the page compared', 'backups verified'],
  'requests to the absent bank',
]
/** Counts of the checks at the end. */
const CHECKS = ['invoices found', 'result 200', 'mails with documents', 'documents restored']
const EACH_WITHIN_MS = 180_000

export function startFaces(
  t: TestContext,
  soak: Soak,
  ground: Surroundings,
  { books, backupEveryMs }: FacesOptions,
): Faces {
  const { box, db, key, receiver, hookSecret, dovecot } = ground
  const hooks = receiveHooks(soak, receiver, hookSecret)
  const sync = (...words: string[]) => box.program('sync', ...words)
  const clients = startClients(soak, { books, key, sync, counts: COUNTS })
  const { uploads, claims, isDrained } = clients
  const mails = new Set<string>()
  const days = { key, from: HISTORY_FROM, to: addDays(books.day, -1) }
  return {
    ...clients,
    sending: [
      ...clients.sending,
      ...[readShapes(soak, days), readIndicators(soak, key), readPage(t, soak, days)],
      ...[sendMails(soak, uploads, { dovecot, mails }), makeBackups(soak, box, backupEveryMs)],
    ],
    working: [...clients.working, workByTools(soak, claims, { key, isDone: isDrained })],
    async check() {
      const rows = await db.selectFrom('documents').select(['id', 'name', 'state']).execute()
      checkHooks(soak, hooks, rows)
      checkMails(soak, mails, rows)
      for (const { clave, ids, deleted } of uploads.values())
        if (clave !== undefined && ids && deleted === 'no') await findInvoice(soak, clave, ids[0])
    },
  }
}

async function findInvoice(soak: Soak, clave: string, id: number | undefined): Promise<void> {
  const headers = { authorization: `Bearer ${TOKENS.read}` }
  const answer = await request(soak, 'invoice', `/api/v1/documents?clave=${clave}`, { headers })
  if (!answer) return
  const { documents = [] } = parseAnswer<{ documents?: { id: number }[] }>(answer)
  if (documents.length === 1 && documents[0]?.id === id) count(soak, 'invoices found')
  else fault(soak, `invoice ${clave} of document ${id}: ${answer.status} ${answer.body}`)
}

/** Waits until each face has done something: on a slow machine that takes longer than a short soak. */
export async function untilEachWorks(soak: Soak): Promise<void> {
  await until(() => soak.isOver || FACES.every((name) => soak.counts.has(name)), EACH_WITHIN_MS).catch(
    () => {},
  )
}

/** Records a fault if a face or a check did nothing. */
export function checkCounts({ counts, faults }: Soak): void {
  const disk = counts.has(WITHOUT_SLOW_DISK) ? [] : [SLOW_DISK]
  const idle = [...FACES, ...CHECKS, ...disk].filter((name) => !counts.get(name))
  if (idle.length > 0) faults.push(`nothing was counted of: ${idle.join(', ')}`)
}
