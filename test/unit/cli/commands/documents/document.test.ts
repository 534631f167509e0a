import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { DocumentRow } from '../../../../../src/store/documents/documents.ts'
import { insertDocumentMail } from '../../../../../src/store/mail/document-mail.ts'
import { makeDirectory, openTestBlobs, runJson, storeTexts } from '../../../../support/company.ts'
import { createClave, sampleInvoice } from '../../../../support/documents/invoice-xml.ts'
import { insertTestMailbox } from '../../../../support/mail/mailboxes.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const ENTRY = join(import.meta.dirname, '../../../../support/cambista.ts')
const HOSTILE_NAME = '../../etc/“passwd”\u202e;rm -rf $HOME'

const hashText = (text: string) => createHash('sha256').update(text).digest('hex')

/** Creates a data directory with a document for each text. */
async function createDocuments(t: TestContext, texts: readonly string[], name?: string): Promise<string> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  await storeTexts(db, await openTestBlobs(dataDir), texts, name === undefined ? {} : { name })
  return dataDir
}

function blobPath(dataDir: string, text: string): string {
  const sha256 = hashText(text)
  return join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
}

test('`document list` prints pages by id, and `document show` one document', async (t) => {
  const dataDir = await createDocuments(t, ['one', 'two', 'three'])
  const all = await runJson<DocumentRow[]>(dataDir, 'document', 'list')
  assert.deepEqual(all[0], {
    id: 1,
    name: 'nota.txt',
    mimetype: 'text/plain',
    size: 3,
    sha256: hashText('one'),
    created_at: '2026-03-24T12:00:00.000Z',
    attachment_id: 1,
    agent_id: 12,
    owner_id: 31,
    company_id: 7,
    created_by: null,
    state: 'new',
    attempts: 0,
    finished_at: null,
    note: null,
  })
  assert.deepEqual(await runJson(dataDir, 'document', 'show', '3'), all[2])
  assert.match((await runCommand(['document', 'show', '3', '--data-dir', dataDir])).out, /^size +5$/m)

  const page = await runCommand(['document', 'list', '--limit', '2', '--data-dir', dataDir, '--json'])
  assert.deepEqual(JSON.parse(page.out), all.slice(0, 2))
  assert.equal(page.err, 'There are more: go on with --after 2\n')
  const rest = await runCommand(['document', 'list', '--limit', '2', '--after', '2', '--data-dir', dataDir])
  assert.match(rest.out, /^ID +COMPANY.*\n3 +7 +12 +31 +5 .* nota\.txt\n$/)
  assert.equal(rest.err, '')
})

test('`document list` and `document show` print no control or direction character of a note or a result', async (t) => {
  const dataDir = await createDocuments(t, ['one'])
  const db = temporaryDatabase(t, dataDir)
  const note = '\x1b]0;title\x07\x1b[2J\x9b2Jno seal\n2  7  12\u2028\u202egnp\u061c.exe'
  await db.updateTable('documents').set({ note }).execute()
  await db.insertInto('document_results').values({ document_id: 1, result: note, size: 1 }).execute()
  for (const words of [['list'], ['show', '1']]) {
    const { out } = await runCommand(['document', ...words, '--data-dir', dataDir])
    assert.match(out, / {1,2}\]0;title {2}\[2J 2Jno seal 2 {2}7 {2}12 {2}gnp \.exe$/m)
    assert.doesNotMatch(out.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  }
  assert.equal((await runJson<DocumentRow[]>(dataDir, 'document', 'list'))[0]?.note, note)
})

test('`document list`, `show`, `set` and `retry` name the mailbox of a mail', async (t) => {
  const dataDir = await createDocuments(t, ['one'])
  const db = temporaryDatabase(t, dataDir)
  const origin = { from_text: null, subject: null, received_at: '2026-03-24T11:58:00.000Z', message_id: null }
  const mail = { ...origin, note: null, mailbox_id: await insertTestMailbox(db) }
  await db.transaction().execute((trx) => insertDocumentMail(trx, [{ document_id: 1, ...mail }]))
  const [listed] = await runJson<DocumentRow[]>(dataDir, 'document', 'list')
  assert.equal(listed?.created_by, 'mail:facturas')
  await db.updateTable('documents').set({ state: 'failed' }).execute()
  for (const words of [['show'], ['set', '--priority', '1'], ['retry']]) {
    const document = await runJson<DocumentRow>(dataDir, 'document', ...words, '1')
    assert.equal(document.created_by, 'mail:facturas', words.join(' '))
  }
})

test('`document list` filters by --company and --agent, which must exist', async (t) => {
  const dataDir = await createDocuments(t, ['one'])
  await runJson(dataDir, 'company', 'create', '--name', 'Otra', '--code', 'O', '--id', '8')
  assert.deepEqual(await runJson(dataDir, 'document', 'list', '--company', '8'), [])
  assert.equal((await runJson<[]>(dataDir, 'document', 'list', '--company', '7', '--agent', '12')).length, 1)
  const company = await runCommand(['document', 'list', '--company', '9', '--data-dir', dataDir])
  assert.deepEqual(
    [company.code, company.err],
    [1, 'cambista: there is no company 9: see cambista company list\n'],
  )
  const agent = await runCommand(['document', 'list', '--agent', '9', '--data-dir', dataDir])
  assert.deepEqual([agent.code, agent.err], [1, 'cambista: there is no agent 9: see cambista agent list\n'])
})

test('`document export --out` writes a new file, under any name of the document', async (t) => {
  const dataDir = await createDocuments(t, ['café'], HOSTILE_NAME)
  const folder = temporaryDirectory(t)
  const out = join(folder, 'out.bin')
  const end = await runJson<DocumentRow & { file: string }>(dataDir, 'document', 'export', '1', '--out', out)
  assert.deepEqual([end.file, end.name, end.size], [out, HOSTILE_NAME, 5])
  assert.equal(readFileSync(out, 'utf8'), 'café')

  writeFileSync(out, 'mine')
  const again = await runCommand(['document', 'export', '1', '--out', out, '--data-dir', dataDir])
  assert.deepEqual([again.code, again.out], [1, ''])
  assert.match(again.err, /out\.bin is there already and is not overwritten: choose another name/)
  assert.equal(readFileSync(out, 'utf8'), 'mine')
  const nowhere = await runCommand([
    'document',
    'export',
    '1',
    '--out',
    `${folder}/a/b`,
    '--data-dir',
    dataDir,
  ])
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.err, /cannot write .*\/a\/b: ENOENT/)
  assert.deepEqual(readdirSync(folder), ['out.bin'])
})

test('`document export` without --out writes the bytes alone to stdout', async (t) => {
  const text = '\0\r\nñ😀'.repeat(100_000)
  const dataDir = await createDocuments(t, [text])
  const out = execFileSync(process.execPath, [ENTRY, 'document', 'export', '1', '--data-dir', dataDir], {
    maxBuffer: 1e8,
  })
  assert.equal(createHash('sha256').update(out).digest('hex'), hashText(text))
  for (const words of [[], ['--out', '-']]) {
    const both = await runCommand(['document', 'export', '1', '--json', ...words, '--data-dir', dataDir])
    assert.deepEqual([both.code, both.out], [2, ''])
    assert.match(both.err, /--json needs --out FILE/)
  }
})

test('`document export` of a damaged or missing blob fails and leaves no file', async (t) => {
  const dataDir = await createDocuments(t, ['one', 'two'])
  const out = join(temporaryDirectory(t), 'out')
  writeFileSync(blobPath(dataDir, 'one'), 'onE')
  const damaged = await runCommand(['document', 'export', '1', '--out', out, '--data-dir', dataDir])
  assert.deepEqual([damaged.code, damaged.out], [1, ''])
  assert.match(
    damaged.err,
    /the content of document 1 is damaged: its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}/,
  )
  unlinkSync(blobPath(dataDir, 'two'))
  const missing = await runCommand(['document', 'export', '2', '--out', out, '--data-dir', dataDir])
  assert.deepEqual([missing.code, missing.out], [1, ''])
  assert.match(missing.err, /the content of document 2 is missing/)
  assert.equal(existsSync(out), false)
})

test('`document delete` removes row and blob, logs the user, and spares a shared blob', async (t) => {
  const dataDir = await createDocuments(t, ['same', 'same', 'other'])
  const words = (id: string) => ['document', 'delete', id, '--data-dir', dataDir]
  const first = await runCommand(words('1'), { SUDO_USER: 'ana' })
  assert.deepEqual(
    [first.code, first.out],
    [0, 'document 1 is deleted, its content stays: another document has the same\n'],
  )
  assert.match(
    first.err,
    /^20\S+ info +document deleted id=1 name=nota\.txt size=4 sha256=[0-9a-f]{64} company_id=7 /,
  )
  assert.match(first.err, new RegExp(` by=\\S+ uid=${process.getuid?.()} sudo_user=ana\n$`))
  assert.equal(existsSync(blobPath(dataDir, 'same')), true)

  const second = await runCommand([...words('2'), '--json', '--log-format', 'json'])
  assert.deepEqual(JSON.parse(second.out), { documents: 1, blobs: 1, bytes: 4, id: 2 })
  const logged = JSON.parse(second.err)
  assert.deepEqual([logged.event, logged.id, logged.uid], ['document deleted', 2, process.getuid?.()])
  assert.equal(existsSync(blobPath(dataDir, 'same')), false)
  assert.equal(existsSync(blobPath(dataDir, 'other')), true)
  assert.deepEqual(
    (await runJson<DocumentRow[]>(dataDir, 'document', 'list')).map(({ id }) => id),
    [3],
  )

  for (const verb of ['delete', 'show', 'export']) {
    const none = await runCommand(['document', verb, '2', '--data-dir', dataDir])
    assert.deepEqual(
      [none.code, none.err],
      [1, 'cambista: there is no document 2: see cambista document list\n'],
    )
  }
})

test('`document purge` deletes old documents of a company; --dry-run deletes none', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2027-03-24T12:00:00Z') })
  const dataDir = await createDocuments(t, ['old', 'old too'])
  const db = temporaryDatabase(t, dataDir)
  await storeTexts(db, await openTestBlobs(dataDir), ['young', 'old'], {
    createdAt: new Date().toISOString(),
  })
  await runJson(dataDir, 'company', 'create', '--name', 'Otra', '--code', 'O', '--id', '8')
  const purge = ['document', 'purge', '--older-than', '1']
  const idsLeft = async () => (await runJson<DocumentRow[]>(dataDir, 'document', 'list')).map(({ id }) => id)

  const dry = await runCommand([...purge, '--dry-run', '--data-dir', dataDir])
  assert.equal(dry.code, 0)
  assert.match(dry.out, /^would delete 2 documents of 10 bytes, uploaded up to 20/)
  assert.equal(dry.err.match(/document would be deleted id=[12] /g)?.length, 2)
  const other = await runJson<{ documents: number }>(dataDir, ...purge, '--company', '8')
  assert.equal(other.documents, 0)
  assert.deepEqual(await idsLeft(), [1, 2, 3, 4])

  const end = await runCommand([...purge, '--company', '7', '--data-dir', dataDir, '--json'])
  const { created_up_to, ...sum } = JSON.parse(end.out)
  assert.deepEqual(sum, { documents: 2, blobs: 1, bytes: 7, dry_run: false }, '"old" is still needed')
  assert.equal(created_up_to, '2027-03-23T12:00:00.000Z')
  assert.equal(end.err.match(/document deleted id=[12] .* by=/g)?.length, 2)
  assert.deepEqual(await idsLeft(), [3, 4])
  assert.equal(existsSync(blobPath(dataDir, 'old')), true)

  assert.match(
    (await runCommand(['document', 'purge', '--older-than', '0', '--data-dir', dataDir])).out,
    /deleted 2/,
  )
  const entries = readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  assert.deepEqual(
    entries.filter((entry) => entry.isFile()),
    [],
  )
})

const wrong: [string, RegExp][] = [
  ['document purge', /--older-than is missing/],
  ['document purge --older-than 1.5', /--older-than must be an integer from 0 to 36500, not "1\.5"/],
  ['document purge --older-than=-1', /--older-than must be an integer/],
  ['document purge --older-than=', /--older-than must be an integer/],
  ['document list --limit 0', /--limit must be an integer from 1 to 1000/],
  ['document list --after x', /--after must be an integer/],
  ['document show', /ID is missing/],
  ['document export 0', /ID must be a positive integer/],
]
for (const [line, expected] of wrong) {
  test(`${line} is wrong usage`, async () => {
    const end = await runCommand(line.split(' '), { CAMBISTA_OLDER_THAN: '1' })
    assert.deepEqual([end.code, end.out], [2, ''])
    assert.match(end.err, expected)
  })
}

test('`document recognise` reads the documents of earlier versions, once or again', async (t) => {
  const clave = createClave('FacturaElectronica', 1)
  const dataDir = await createDocuments(t, [sampleInvoice({ clave }), 'nota', '<a/>'])
  const run = (...words: string[]) => runJson<object>(dataDir, 'document', 'recognise', ...words)
  const counts = { documents: 3, invoices: 1, faults: 0, unreadable: 0 }
  const none = { documents: 0, invoices: 0, faults: 0, unreadable: 0 }
  assert.deepEqual(await run(), counts)
  assert.deepEqual(await run(), none)
  assert.deepEqual(await run('--again', '--company', '7'), counts)
  assert.deepEqual(await run('--company', '7'), { ...none, documents: 2 })
  const [invoice] = await temporaryDatabase(t, dataDir).selectFrom('invoices').selectAll().execute()
  assert.equal(invoice?.clave, clave)
  const text = await runCommand(['document', 'recognise', '--again', '--data-dir', dataDir])
  assert.equal(text.out, 'documents read: 3, invoices: 1\n')
  const unknown = await runCommand(['document', 'recognise', '--company', '9', '--data-dir', dataDir])
  assert.deepEqual(
    [unknown.code, unknown.err],
    [1, 'cambista: there is no company 9: see cambista company list\n'],
  )
})
