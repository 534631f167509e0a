import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { type TestContext, test } from 'node:test'
import type { EventRow } from '../../../../../src/store/documents/events.ts'
import { makeDirectory, openTestBlobs, runJson, storeTexts } from '../../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

/** Creates a data directory with `count` documents. */
async function createDocuments(t: TestContext, count: number): Promise<string> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const texts = Array.from({ length: count }, (_, at) => `text ${at}`)
  await storeTexts(temporaryDatabase(t, dataDir), await openTestBlobs(dataDir), texts)
  return dataDir
}

test('`event list` has a deletion on the command line, with the user and that of sudo', async (t) => {
  const dataDir = await createDocuments(t, 2)
  const { sha256 } = await runJson<{ sha256: string }>(dataDir, 'document', 'show', '2')
  const before = new Date().toISOString()
  await runCommand(['document', 'delete', '2', '--data-dir', dataDir], { SUDO_USER: 'ana' })
  await runCommand(['document', 'delete', '1', '--data-dir', dataDir])
  const [created, event, ...others] = await runJson<EventRow[]>(dataDir, 'event', 'list', '--document', '2')
  assert.deepEqual(others, [])
  const nobody = { person: null, attempt: null, note: null, size: null }
  const unknown = { id: null, via: null, actor: null, sha256: null, ...nobody }
  assert.deepEqual(created, { ...unknown, at: created?.at, kind: 'created', document_id: 2, company_id: 7 })
  assert.ok(event && event.at >= before && event.at <= new Date().toISOString())
  const user = userInfo().username
  assert.deepEqual(event, {
    id: 1,
    at: event.at,
    kind: 'deleted',
    via: 'cli',
    actor: `${user} (sudo: ana)`,
    document_id: 2,
    company_id: 7,
    sha256,
    ...nobody,
  })
  const { out } = await runCommand(['event', 'list', '--data-dir', dataDir])
  const lines = out.split('\n')
  assert.match(lines[0] ?? '', /^ID +AT +KIND +ACTOR +DOCUMENT +COMPANY +SHA256$/)
  assert.match(
    lines[1] ?? '',
    new RegExp(`^1 +20\\S+Z +deleted +cli ${user} \\(sudo: ana\\) +2 +7 +${sha256}$`),
  )
  assert.match(lines[2] ?? '', new RegExp(`^2 +20\\S+Z +deleted +cli ${user} +1 +7 +[0-9a-f]{64}$`))
  assert.equal(lines.length, 4)
  assert.equal(out.includes('nota.txt'), false, 'the name of a deleted document is not in its event')
})

test('`event list` prints the newest page, and older ones with --before', async (t) => {
  const dataDir = await createDocuments(t, 5)
  await runJson(dataDir, 'document', 'purge', '--older-than', '0')
  const page = (...words: string[]) =>
    runCommand(['event', 'list', '--limit', '2', ...words, '--data-dir', dataDir])
  const newest = await page()
  assert.match(newest.out, /^ID.*\n4 .*\n5 .*\n$/)
  assert.equal(newest.err, 'There are older ones: go on with --before 4\n')
  const older = await page('--before', '4')
  assert.match(older.out, /^ID.*\n2 .*\n3 .*\n$/)
  const oldest = await page('--before', '2')
  assert.match(oldest.out, /^ID.*\n1 .*\n$/)
  assert.equal(oldest.err, '')
  assert.deepEqual(await runJson(dataDir, 'event', 'list', '--document', '99'), [])
})

test('`document purge --dry-run` adds no event', async (t) => {
  const dataDir = await createDocuments(t, 3)
  await runJson(dataDir, 'document', 'purge', '--older-than', '0', '--dry-run')
  assert.deepEqual(await runJson(dataDir, 'event', 'list'), [])
})
