// `session list` shows open sessions without a secret, and `session end` ends them on a running server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, openBrowser, signIn } from '../../../../api/web/support.ts'
import { startTestApp } from '../../../../support/app.ts'
import { makeDirectory, runJson } from '../../../../support/company.ts'
import { runCommand } from '../../../../support/terminal.ts'

type Listed = {
  id: string
  person: string | null
  key: string | null
  token: string | null
  remember: boolean
}

const NOW = { now: new Date().toISOString() }

test('`session list` shows names and times, and no half of a session', async (t) => {
  const { app, dataDir } = await startTestApp(t, NOW)
  await makeDirectory(dataDir)
  const { key } = await runJson<{ key: string }>(dataDir, 'key', 'create', 'erp')
  await runJson(dataDir, 'token', 'create', 'scans', '--allow', 'documents:GET')
  const pasted = await signIn(app.url, key)
  const words = ['--key', 'erp', '--token', 'scans', '--person', 'Ana Mora']
  const link = await runJson<{ url: string }>(dataDir, 'web', ...words)
  const code = new URL(link.url).hash.slice('#login='.length)
  const ana = openBrowser(app.url, await ask(`${app.url}/session`, { json: { code, remember: true } }))
  const rows = await runJson<Listed[]>(dataDir, 'session', 'list')
  const facts = rows.map(({ person, key, token, remember }) => [person, key, token, remember])
  assert.deepEqual(facts.sort(), [
    [null, 'erp', null, false],
    ['Ana Mora', 'erp', 'scans', true],
  ])
  const table = await runCommand(['session', 'list', '--data-dir', dataDir])
  assert.match(table.out, /^[\da-f]{12} +Ana Mora +erp +scans +yes +\S+Z +\S+Z$/m)
  for (const browser of [pasted, ana]) {
    for (const half of [browser.page, browser.cookie.split('=')[1] ?? ''])
      assert.ok(!table.out.includes(half))
  }
  await runJson(dataDir, 'key', 'revoke', 'erp')
  const later = await runJson<Listed[]>(dataDir, 'session', 'list')
  assert.deepEqual(
    later.map(({ person, key, token }) => [person, key, token]),
    [['Ana Mora', null, 'scans']],
    'a session without a valid secret opens nothing',
  )
})

test('`session end` ends one session, or each one of a person', async (t) => {
  const { app, dataDir, key } = await startTestApp(t, NOW)
  const isOpen = async (browser: Awaited<ReturnType<typeof signIn>>) =>
    (await browser.ask('/api/v1/rates')).status === 200
  const [first, second] = [await signIn(app.url, key), await signIn(app.url, key)]
  const [{ id } = { id: '' }] = await runJson<Listed[]>(dataDir, 'session', 'list')
  assert.deepEqual(await runJson(dataDir, 'session', 'end', id), { ended: 1 })
  const open = [await isOpen(first), await isOpen(second)]
  assert.deepEqual(open.toSorted(), [false, true])
  const closedOne = open[0] ? second : first
  const { ended: reason } = JSON.parse((await closedOne.ask('/session')).body)
  assert.deepEqual(reason, { reason: 'closed', remember: false })
  await runJson(dataDir, 'key', 'create', 'erp')
  const people = []
  for (const person of ['Ana', 'Ana', 'Berta']) {
    const { url } = await runJson<{ url: string }>(dataDir, 'web', '--key', 'erp', '--person', person)
    const code = new URL(url).hash.slice('#login='.length)
    people.push(openBrowser(app.url, await ask(`${app.url}/session`, { json: { code } })))
  }
  const end = await runCommand(['session', 'end', '--person', 'Ana', '--data-dir', dataDir])
  assert.equal(end.out, '2 sessions are ended\n')
  assert.deepEqual(await Promise.all(people.map(isOpen)), [false, false, true])
})

test('`session end` names a wrong or missing id', async (t) => {
  const { dataDir } = await startTestApp(t)
  for (const [words, code, message] of [
    [[], 2, /give the ID of a session, or --person NAME/],
    [['a'.repeat(12), '--person', 'Ana'], 2, /give the ID of a session, or --person NAME/],
    [['12'], 2, /ID must be that of a session in cambista session list, not "12"/],
    [['a'.repeat(12)], 1, /there is no open session a{12}: see cambista session list/],
    [['--person', 'Ana'], 1, /there is no open session of Ana: see cambista session list/],
    [['--person', ' Ana'], 2, /--person must be the name of a person/],
    [['--person', 'Ana\u202e'], 2, /--person must be the name of a person/],
  ] as const) {
    const end = await runCommand(['session', 'end', ...words, '--data-dir', dataDir])
    assert.deepEqual([end.code, end.out], [code, ''], end.err)
    assert.match(end.err, message)
  }
})
