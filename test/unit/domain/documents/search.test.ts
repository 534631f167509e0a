// Search of documents, compared with a filter of all rows.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { foldNames } from '../../../../src/domain/documents/folded-names.ts'
import type { DocumentsRequest } from '../../../../src/domain/documents/page-request.ts'
import { searchDocuments } from '../../../../src/domain/documents/search.ts'
import { recognizeBlob } from '../../../../src/domain/invoices/recognition.ts'
import type { DocumentFilter } from '../../../../src/store/documents/filter.ts'
import type { InvoiceFilter } from '../../../../src/store/documents/invoice-search.ts'
import {
  insertInvoices,
  type StoredInvoice,
  selectInvoices,
} from '../../../../src/store/documents/invoices.ts'
import { selectUnfolded } from '../../../../src/store/documents/names.ts'
import type { DocumentState, ReadDb, WriteDb } from '../../../../src/store/tables.ts'
import { foldAccents, searchWords } from '../../../../src/values/folded-text.ts'
import { fillTables } from '../../../support/directory.ts'
import { insertFiles } from '../../../support/documents/insert.ts'
import { createClave } from '../../../support/documents/invoice-xml.ts'
import { createRandom } from '../../../support/rates/random-bank.ts'
import { openTestReads, temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const NAMES = [
  'Factura_1.pdf',
  'FACTURÁ 50%.pdf',
  'Recibo Ñandú.xml',
  'nota\\de.txt',
  'crédito 100.pdf',
  'ÇA_va.png',
]
const SEARCHES = ['', 'factura', 'nandu', '50%', '_', '\\', 'pdf FACT', 'credito', 'ca_', 'x%', '1']
const KINDS = ['FacturaElectronica', 'MensajeHacienda']
const STATES: readonly DocumentState[] = ['new', 'claimed', 'done', 'failed']
const PARTIES = [
  { companyId: 1, agentId: 1, ownerId: 1 },
  { companyId: 1, agentId: 2, ownerId: 1 },
  { companyId: 2, agentId: 3, ownerId: 2 },
]
const LOCK = {
  check: async () => {},
  outlivesHolderMs: 0,
  lost: new AbortController().signal,
  release: async () => {},
}
const day = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString()

async function openDocuments(t: TestContext, count: number): Promise<WriteDb> {
  const db = temporaryDatabase(t, temporaryDirectory(t))
  await fillTables(db)
  const random = createRandom(7)
  for (let at = 0; at < count; at += 1) {
    const party = PARTIES[random.int(0, 2)] ?? PARTIES[0]
    const name = NAMES[random.int(0, NAMES.length - 1)] ?? ''
    // Nearly in the order of the ids.
    const instant = day(Math.floor(at / 10) + random.int(0, 3))
    const file = { name, mimetype: 'text/plain', size: 1, sha256: String(at).padStart(64, '0') }
    const facts = { ...(party as (typeof PARTIES)[0]), createdAt: instant, createdBy: null, files: [file] }
    await db.transaction().execute((trx) => insertFiles(trx, facts))
    const state = STATES[random.int(0, 3)] ?? 'new'
    const folded = random.int(0, 1) === 0 ? { name_folded: null } : {}
    await db
      .updateTable('documents')
      .set({ state, ...folded })
      .where('id', '=', at + 1)
      .execute()
    if (random.int(0, 3) > 0) await insertInvoice(db, { at, companyId: party?.companyId ?? 1, random })
  }
  return db
}

async function insertInvoice(
  db: WriteDb,
  { at, companyId, random }: { at: number; companyId: number; random: ReturnType<typeof createRandom> },
): Promise<void> {
  const row = recognizeBlob().end(`${createClave('FacturaElectronica', random.int(1, 4))}.pdf`)
  assert.ok(row)
  const facts = {
    issuer_id: String(random.int(1, 3)),
    kind: KINDS[random.int(0, 1)] ?? '',
    date: day(Math.floor(at / 10) - random.int(0, 5)).slice(0, 10),
  }
  const isContent = random.int(0, 3) > 0
  const own = { document_id: at + 1, company_id: companyId }
  await insertInvoices(db, [{ ...row, ...own, ...(isContent && facts) }])
}

function createInvoiceFilter(random: ReturnType<typeof createRandom>): InvoiceFilter | undefined {
  const isWanted = () => random.int(0, 2) === 0
  const from = random.int(-5, 15)
  const filter = {
    clave: isWanted() ? createClave('FacturaElectronica', random.int(1, 5)) : undefined,
    issuerId: isWanted() ? String(random.int(1, 4)) : undefined,
    kind: isWanted() ? KINDS[random.int(0, 1)] : undefined,
    issuedFrom: isWanted() ? day(from).slice(0, 10) : undefined,
    issuedTo: isWanted() ? day(from + random.int(0, 6)).slice(0, 10) : undefined,
  }
  return Object.values(filter).some((one) => one !== undefined) ? filter : undefined
}

function hasFacts(row: StoredInvoice | undefined, filter: InvoiceFilter | undefined): boolean {
  if (filter === undefined) return true
  const { clave, issuerId, kind, issuedFrom, issuedTo } = filter
  return (
    row !== undefined &&
    [row.clave, undefined].includes(clave) &&
    [row.issuer_id, undefined].includes(issuerId) &&
    [row.kind, undefined].includes(kind) &&
    (issuedFrom === undefined || (row.date !== null && row.date >= issuedFrom)) &&
    (issuedTo === undefined || (row.date !== null && row.date <= issuedTo))
  )
}

/** Searches page by page, as a client does. */
async function searchAll(db: ReadDb, request: DocumentsRequest, most: number): Promise<number[]> {
  const ids: number[] = []
  let { page } = request
  for (let pages = 0; pages < 1000; pages += 1) {
    const { documents, hasMore, last } = await searchDocuments(db, { ...request, page }, most)
    ids.push(...documents.map(({ id }) => id))
    assert.ok(documents.length <= page.limit)
    if (!hasMore) return ids
    assert.ok(last !== undefined)
    page = { ...page, [page.order === 'asc' ? 'after' : 'before']: last }
  }
  assert.fail('no end')
}

test('`searchDocuments` finds the same rows as a filter of all of them', async (t) => {
  const db = await openDocuments(t, 150)
  const rows = await db.selectFrom('documents').selectAll().execute()
  const invoices = await selectInvoices(
    db,
    rows.map(({ id }) => id),
  )
  const random = createRandom(11)
  for (let round = 0; round < 200; round += 1) {
    const order = random.int(0, 1) === 0 ? 'asc' : 'desc'
    const from = random.int(0, 2) === 0 ? random.int(0, 33) : undefined
    const request: DocumentsRequest = {
      words: searchWords(SEARCHES[random.int(0, SEARCHES.length - 1)] ?? ''),
      states: random.int(0, 1) === 0 ? undefined : STATES.filter(() => random.int(0, 1) === 0).slice(0, 3),
      companyId: random.int(0, 2) === 0 ? random.int(1, 3) : undefined,
      agentId: random.int(0, 3) === 0 ? random.int(1, 3) : undefined,
      periodStart: from === undefined ? undefined : day(from),
      periodEnd: random.int(0, 2) === 0 ? day((from ?? 0) + random.int(1, 12)) : undefined,
      invoice: random.int(0, 1) === 0 ? undefined : createInvoiceFilter(random),
      page: { limit: random.int(1, 40), order },
    }
    if (request.states?.length === 0) request.states = ['done']
    const expected = rows
      .filter((row) => (request.words ?? []).every((word) => foldAccents(row.name).includes(word)))
      .filter((row) => request.states?.includes(row.state) ?? true)
      .filter((row) => [row.company_id, undefined].includes(request.companyId))
      .filter((row) => [row.agent_id, undefined].includes(request.agentId))
      .filter((row) => request.periodStart === undefined || row.created_at >= request.periodStart)
      .filter((row) => request.periodEnd === undefined || row.created_at < request.periodEnd)
      .filter(({ id }) => hasFacts(invoices.get(id), request.invoice))
      .map(({ id }) => id)
      .sort((one, other) => (order === 'asc' ? one - other : other - one))
    const most = [5, 40, 1000][random.int(0, 2)] ?? 5
    assert.deepEqual(await searchAll(db, request, most), expected, JSON.stringify({ request, most }))
  }
})

test('a search without a match answers how far it got', async (t) => {
  const db = await openDocuments(t, 60)
  const page = { limit: 10, order: 'desc' } as const
  const first = await searchDocuments(db, { words: ['nothing'], page }, 25)
  assert.deepEqual(first, { documents: [], hasMore: true, last: 36 })
  const second = await searchDocuments(db, { words: ['nothing'], page: { ...page, before: 36 } }, 25)
  assert.deepEqual(second, { documents: [], hasMore: true, last: 11 })
  const third = await searchDocuments(db, { words: ['nothing'], page: { ...page, before: 11 } }, 25)
  assert.deepEqual([third.documents, third.hasMore], [[], false])
})

const MERGED_LISTS: Record<string, DocumentFilter> = {
  'a company and a state': { companyId: 1, states: ['new'], words: [] },
  'several states': { states: ['new', 'claimed'], words: [] },
  'an issuer': { invoice: { issuerId: '7' }, words: [] },
  'a name': { words: ['factura'] },
}
const SIZES = [
  { limit: 20, most: 6 },
  { limit: 200, most: 1000 },
]
const COMMITS = 12

for (const [name, list] of Object.entries(MERGED_LISTS)) {
  test(`a list by ${name} has each document that is committed between two statements`, async (t) => {
    for (const size of SIZES) {
      const { interrupted, ids, commits } = await openInterrupted(t, list)
      const isListed = (_: number, at: number) => list.companyId === undefined || at % PARTIES.length < 2
      const earlierIds = ids.filter(isListed)
      const page = { limit: size.limit, order: 'desc' } as const
      const descending = await searchAll(interrupted, { ...list, page }, size.most)
      const isEarlier = (id: number) => earlierIds.includes(id)
      assert.deepEqual(descending.filter(isEarlier).reverse(), earlierIds, JSON.stringify(size))
      commits.left = COMMITS
      const answered: number[] = []
      for (let more = true; more; ) {
        more = commits.left > 0
        const next = { ...page, order: 'asc', after: answered.at(-1) } as const
        answered.push(...(await searchAll(interrupted, { ...list, page: next }, size.most)))
      }
      assert.deepEqual(answered, ids.filter(isListed), JSON.stringify(size))
    }
  })
}

/** Opens a connection that commits `ids`, a document of each agent, after a statement. Every second time states change. */
async function openInterrupted(t: TestContext, { states = [] }: DocumentFilter) {
  const dataDir = temporaryDirectory(t)
  const db = temporaryDatabase(t, dataDir)
  await fillTables(db)
  const reads = openTestReads(dataDir)
  t.after(() => reads.destroy())
  const [state = 'new', other = state] = states
  const ids: number[] = []
  for (let at = 0; at < 3; at += 1) ids.push(...(await insertOfEach(db, other)))
  const commits = { left: COMMITS }
  const interrupted = (reads as WriteDb).withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (commits.left === 0) return result
      commits.left -= 1
      ids.push(...(await insertOfEach(db, other)))
      if (commits.left % 2 === 0) await swapStates(db, state, other)
      return result
    },
  })
  return { interrupted, ids, commits }
}

/** Inserts a document of each agent in a transaction of its own. */
async function insertOfEach(db: WriteDb, state: DocumentState): Promise<number[]> {
  const ids: number[] = []
  for (const party of PARTIES) {
    await db.transaction().execute(async (trx) => {
      const sha256 = randomBytes(32).toString('hex')
      const file = { name: 'factura.pdf', mimetype: 'text/plain', size: 1, sha256 }
      const facts = { ...party, createdAt: day(1), createdBy: null, files: [file] }
      const [document] = await insertFiles(trx, facts)
      const invoice = recognizeBlob().end(`${createClave('FacturaElectronica', 1)}.pdf`)
      assert.ok(document && invoice)
      const { id } = document
      await trx.updateTable('documents').set({ state }).where('id', '=', id).execute()
      await insertInvoices(trx, [
        { ...invoice, document_id: id, company_id: party.companyId, issuer_id: '7' },
      ])
      ids.push(id)
    })
  }
  return ids
}

async function swapStates(db: WriteDb, one: DocumentState, other: DocumentState): Promise<void> {
  const swap = db.updateTable('documents').set((of) => ({
    state: of.case('state').when(one).then(other).else<DocumentState>(one).end(),
  }))
  await swap.execute()
}

test('`foldNames` folds the names of earlier documents, and changes no other row', async (t) => {
  const db = await openDocuments(t, 210)
  const before = await db.selectFrom('documents').selectAll().orderBy('id').execute()
  assert.ok(before.some(({ name_folded }) => name_folded === null))
  await foldNames({ db, reads: db }, LOCK, new AbortController().signal)
  assert.deepEqual(await selectUnfolded(db, 1), [])
  const folded = before.map((row) => ({ ...row, name_folded: foldAccents(row.name) }))
  assert.deepEqual(await db.selectFrom('documents').selectAll().orderBy('id').execute(), folded)
})

test('`foldAccents` forgives accents and capitals', () => {
  const same = [
    ['ÁÉÍÓÚÜÑ', 'aeiouun'],
    ['crédito', 'credito'],
    ['İstanbul', 'istanbul'],
    ['ﬁ', 'ﬁ'],
    ['Straße', 'straße'],
  ] as const
  for (const [text, folded] of same) assert.equal(foldAccents(text), folded)
  assert.deepEqual(searchWords('  Nota  de NOTA crédito '), ['nota', 'de', 'credito'])
})
