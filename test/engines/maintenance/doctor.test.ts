// cambista doctor on a database and a store of contents that several nodes share.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { examineShared } from '../../../src/domain/operations/doctor/doctor.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { blobPath } from '../../../src/store/blobs/commit.ts'
import { openBlobStore } from '../../../src/store/blobs/open-blobs.ts'
import { openNode } from '../../support/postgres/database.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand, until } from '../../support/terminal.ts'

const TEXTS = ['one', 'two', 'three'] as const
const [ONE, TWO, THREE] = TEXTS.map((text) => createHash('sha256').update(text).digest('hex')) as [
  string,
  string,
  string,
]
// The servers of tests write nothing to be safe from power cuts.
const FSYNC = /^database: fsync is off/
// Nor were rates ever synchronized here.
const UNSYNCED = /^rates: never synced, so that there are no rates$/

test('`doctor` has notes and no findings for a sound cluster', async (t) => {
  const { examine, node } = await shared(t)
  const lock = await node.takeLock('sync')
  const { findings, notes } = await examine()
  await lock?.release()
  assert.deepEqual(findings, [])
  assert.match(notes, /^PostgreSQL \d+\.\d+.*, schema \d+, transactions are read committed$/m)
  assert.match(
    notes,
    /^synchronous_standby_names is empty: .*after a fail-over, what was acknowledged last is lost$/m,
  )
  assert.match(notes, /^sync: on host .+, pid \d+, since 20.+Z$/m)
  assert.match(notes, /^no node has the scheduler/m)
  assert.match(notes, /^3 contents of documents, --read-all reads them$/m)
})

test('a missing content names its documents, and one that is known to be lost is a note', async (t) => {
  const { examine, folder, url } = await shared(t)
  rmSync(blobPath(folder, ONE))
  rmSync(blobPath(folder, TWO))
  await queryOnce(
    url,
    `insert into lost_contents (sha256, fault, since) values ('${TWO}', 'is missing', 'then')`,
  )
  const { findings, notes } = await examine()
  assert.deepEqual(findings, [`contents: content ${ONE} is missing: document 1 (one)`])
  assert.match(
    notes,
    new RegExp(`content ${TWO} is known lost since then \\(is missing\\): document 2 \\(two\\)`),
  )
})

test('a folder that is not that of the database is one finding, and not one for each content', async (t) => {
  const { examine, node, folder } = await shared(t)
  using contents = await openBlobStore({ dataDir: '', blobs: { folder } }, node)
  await contents.check()
  assert.deepEqual((await examine()).findings, [])
  const { findings } = await examine({ folder: temporaryDirectory(t) })
  assert.equal(findings.length, 1)
  assert.match(String(findings), /^contents: the contents of this database are not here, .+Is it mounted/)
})

test('an altered content is found by reading all', async (t) => {
  const { examine, folder } = await shared(t)
  writeFileSync(blobPath(folder, THREE), 'thrEe')
  assert.deepEqual((await examine()).findings, [])
  const { findings } = await examine({ readAll: true })
  assert.deepEqual(findings, [
    `contents: content ${THREE} cannot be read as it was stored: document 3 (three)`,
  ])
})

test('`doctor` reports blobs without documents, and documents without a blob row', async (t) => {
  const { examine, folder, url } = await shared(t)
  const name = 'e'.repeat(64)
  mkdirSync(dirname(blobPath(folder, name)), { recursive: true })
  writeFileSync(blobPath(folder, name), 'orphan')
  await queryOnce(url, `delete from contents where sha256 = '${ONE}'`)
  const { findings, notes } = await examine()
  assert.match(notes, /(?<!\d)1 content belongs to no document/)
  assert.deepEqual(findings, [`contents: content ${ONE} has no row that says where it is: document 1 (one)`])
})

test('ids that would be given twice, and a clock that is far off, are findings', async (t) => {
  const { examine, url } = await shared(t)
  await queryOnce(url, `insert into companies (id, name, code, created_at) values (77, 'B', 'B', 'then')`)
  const off = await openNode(t, url, { machine: () => Date.now() - 3_600_000 })
  const { findings } = await examine({ engine: off })
  assert.match(
    findings[0] ?? '',
    /^clock: the clock of this machine is 3[56]\d{5} ms behind that of the database/,
  )
  assert.match(findings[1] ?? '', /^database: the next id of companies would be 8, but there is one of 77/)
})

test('a provider, whose id the program chooses, is no finding', async (t) => {
  const { examine, url } = await shared(t)
  const { id, code, name, country } = bccr
  await queryOnce(
    url,
    `insert into providers (id, code, name, country) values (${id}, '${code}', '${name}', '${country}')`,
  )
  assert.deepEqual((await examine()).findings, [])
})

test('`doctor` checks database and blobs, and changes nothing', async (t) => {
  const { folder, url } = await shared(t)
  const doctor = (...words: string[]) =>
    runCommand(['doctor', '--blobs', folder, '--blobs-shared', ...words], { CAMBISTA_DATABASE: url })
  const end = await doctor('--read-all')
  assert.equal(end.code, 1, end.err)
  assert.equal(end.err, '')
  assert.match(end.out, /^FINDING {2}database: fsync is off.+\n1 finding\n$/ms)
  const repair = await doctor('--repair')
  assert.equal(repair.code, 2)
  assert.match(
    repair.err,
    /nodes that share a database clean up by themselves.*run cambista doctor without --repair/,
  )
  const empty = await createPostgresSchema()
  const none = await runCommand(['doctor', '--blobs', folder, '--blobs-shared'], { CAMBISTA_DATABASE: empty })
  assert.match(none.err, /has no tables yet/)
  assert.deepEqual(await queryOnce(empty, 'select 1 from pg_tables where schemaname = current_schema()'), [])
})

test('`doctor --accept-sums` accepts damaged rates once no node is connected', async (t) => {
  const { node, folder, url } = await shared(t)
  const run = (...words: string[]) =>
    runCommand([...words, '--blobs', folder, '--blobs-shared'], { CAMBISTA_DATABASE: url })
  await runCommand(['provider', 'disable', 'bccr'], { CAMBISTA_DATABASE: url })
  await queryOnce(
    url,
    `insert into rates values (1, '2025-03-24', '505.7', null, 1);
     update series set revision = 1 where id = 1;
     insert into rate_sums values (1, '2025', 1, 1, 1, 1), (1, 'revisions', 0, 0, 0, 1)`,
  )
  const damaged = 'FINDING  rates: series 1 (USD/CRC compra): its values of 2025 are not as they were stored'
  assert.ok((await run('doctor')).out.includes(damaged))
  const refused = await run('doctor', '--accept-sums', '1', '2025')
  assert.equal(refused.code, 1, refused.err)
  await node.close()
  let accepted = refused
  // The server ends the sessions of the node after it.
  await until(async () => {
    accepted = await run('doctor', '--accept-sums', '1', '2025')
    return !accepted.err.includes('cambista uses this database')
  })
  assert.match(accepted.out, /^accepted: series 1, 2025$/m)
  assert.ok(!accepted.out.includes(damaged))
})

test('`doctor` checks that the key decrypts the secrets of hooks', async (t) => {
  const { url, folder } = await shared(t)
  const dir = temporaryDirectory(t)
  const [right, other] = ['right', 'other'].map((name) => {
    const file = join(dir, name)
    writeFileSync(file, randomBytes(32))
    return file
  }) as [string, string]
  const run = (line: string) => runCommand(line.split(' '), { CAMBISTA_DATABASE: url })
  const createHook = `hook create --url https://a.example/hook --event sync.failed --hook-key-file ${right}`
  assert.equal((await run(createHook)).code, 0)
  const doctor = `doctor --blobs ${folder} --blobs-shared`
  const [without, withRight, withOther] = [
    await run(doctor),
    await run(`${doctor} --hook-key-file ${right}`),
    await run(`${doctor} --hook-key-file ${other}`),
  ]
  assert.match(without.out, /^note .* secrets of hooks are not looked at, because --hook-key-file/m)
  assert.doesNotMatch(without.out, /FINDING {2}hooks/)
  assert.doesNotMatch(withRight.out, /hook/)
  assert.match(
    withOther.out,
    /^FINDING {2}hooks: the secret of hook 1 cannot be read with this key.*other nodes: cambista hook rotate 1/m,
  )
})

test('`doctor` reports a database that is not UTF8, which cannot store every name', async (t) => {
  const server = await createPostgresSchema()
  const name = `latin_${randomBytes(6).toString('hex')}`
  await queryOnce(
    server,
    `create database ${name} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`,
  )
  t.after(() => queryOnce(server, `drop database ${name} with (force)`))
  const url = server.replace(/\/postgres\?/, `/${name}?`).replace(/&options=.*/, '')
  await openNode(t, url)
  const words = ['doctor', '--blobs', temporaryDirectory(t), '--blobs-shared']
  const { out } = await runCommand(words, { CAMBISTA_DATABASE: url })
  assert.match(out, /^FINDING {2}database: its encoding is LATIN1 \(collation C\) and not UTF8: /m)
  const key = await runCommand(['key', 'create', '鍵'], { CAMBISTA_DATABASE: url })
  assert.equal(key.code, 1)
  assert.match(key.err, /UTF8.*LATIN1/)
})

async function shared(t: TestContext) {
  const url = await createPostgresSchema()
  const folder = temporaryDirectory(t)
  const node = await openNode(t, url)
  await queryOnce(
    url,
    `insert into companies (id, name, code, created_at) values (7, 'A', 'A', 'then');
     insert into agents (id, company_id, name, created_at) values (7, 7, 'A', 'then');
     insert into owners (id, name, created_at) values (7, 'O', 'then');
     update companies set used = 11;
     select setval('companies_id_seq', 7), setval('agents_id_seq', 7), setval('owners_id_seq', 7),
       setval('attachments_id_seq', 9), setval('documents_id_seq', 9)`,
  )
  for (const [at, text] of TEXTS.entries()) {
    const sha256 = [ONE, TWO, THREE][at] ?? ''
    const path = blobPath(folder, sha256)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    await queryOnce(
      url,
      `insert into contents (sha256, size, created_at) values ('${sha256}', ${text.length}, 'then');
       insert into attachments (id, name, mimetype, size, sha256, created_at)
         values (${at + 1}, 'a', 'text/plain', ${text.length}, '${sha256}', 'then');
       insert into documents (id, attachment_id, company_id, agent_id, owner_id, name, created_at)
         values (${at + 1}, ${at + 1}, 7, 7, 7, '${text}', 'then')`,
    )
  }
  const examine = async ({ readAll = false, engine = node, folder: looked = folder } = {}) => {
    using contents = await openBlobStore({ dataDir: '', blobs: { folder: looked } }, engine)
    const result = await examineShared({
      ...{ engine, blobStore: contents, readAll, providers: [bccr] },
      signal: new AbortController().signal,
      beforeRecheck: async () => {},
    })
    const findings = result.findings.map(({ check, message }) => `${check}: ${message}`)
    return {
      findings: findings.filter((line) => !FSYNC.test(line) && !UNSYNCED.test(line)),
      notes: result.notes.map(({ message }) => message).join('\n'),
    }
  }
  return { examine, node, folder, url }
}
