// `web` prints a link that opens the page signed in with the given key and token.

import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask, makeToken, openBrowser } from '../../../../api/web/support.ts'
import { startTestApp } from '../../../../support/app.ts'
import { makeDirectory, runJson } from '../../../../support/company.ts'
import { runCommand } from '../../../../support/terminal.ts'

const NOW = '2026-03-24T12:00:00.000Z'

test('`web` prints a link to the running server, for a key, a token or both', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(NOW) })
  const app = await startTestApp(t, { now: NOW })
  const { url } = app.app
  await makeDirectory(app.dataDir)
  await runJson(app.dataDir, 'key', 'create', 'erp')
  await makeToken(app, 'scans', '--company', '7')
  const end = await runCommand(['web', '--key', 'erp', '--token', 'scans', '--data-dir', app.dataDir])
  assert.equal(end.code, 0, end.err)
  assert.match(end.err, /^Signs in with key erp and token scans, once and within 5 minutes:$/m)
  const [, origin, code] = /^(.*)\/#login=([\w-]{32})\n$/.exec(end.out) ?? []
  assert.equal(origin, url)
  const browser = openBrowser(url, await ask(`${url}/session`, { json: { code } }))
  const { key, token } = JSON.parse((await browser.ask('/session')).body)
  assert.deepEqual([key.name, token.name], ['erp', 'scans'])
  const link = await runJson<{ url: string; ends_at: string }>(app.dataDir, 'web', '--token', 'scans')
  assert.match(link.url, /#login=[\w-]{32}$/)
  assert.equal(link.ends_at, '2026-03-24T12:05:00.000Z')
})

test('`web --url` replaces the address in the link', async (t) => {
  const app = await startTestApp(t)
  await runJson(app.dataDir, 'key', 'create', 'erp')
  const link = await runJson<{ url: string }>(
    app.dataDir,
    'web',
    '--key',
    'erp',
    '--url',
    'https://rates.example.com',
  )
  assert.match(link.url, /^https:\/\/rates\.example\.com\/#login=/)
})

test('`web` takes --public-url or its variable, below a path too, and --url before it', async (t) => {
  const app = await startTestApp(t)
  await runJson(app.dataDir, 'key', 'create', 'erp')
  const link = async (words: string[], env: Record<string, string> = {}) => {
    const { out, err } = await runCommand(['web', '--key', 'erp', '--data-dir', app.dataDir, ...words], env)
    return out.replace(/#login=[\w-]{32}\n$/, '') || err
  }
  const flag = ['--public-url', 'https://example.com/cambista']
  assert.equal(await link(flag), 'https://example.com/cambista/')
  const env = { CAMBISTA_PUBLIC_URL: 'https://example.com:8443/a/b/' }
  assert.equal(await link([], env), 'https://example.com:8443/a/b/')
  assert.equal(await link(['--url', 'http://other.example/'], env), 'http://other.example/')
  for (const url of [
    'example.com',
    'ftp://example.com',
    'https://ana@example.com',
    'https://example.com/?a',
  ]) {
    assert.match(await link(['--public-url', url]), /--public-url must be /, url)
  }
})

test('serve.url is readable by its owner alone and removed when the server stops', async (t) => {
  const app = await startTestApp(t)
  const file = join(app.dataDir, 'serve.url')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await runJson(app.dataDir, 'key', 'create', 'erp')
  await app.app.close()
  assert.equal(existsSync(file), false)
  const end = await runCommand(['web', '--key', 'erp', '--data-dir', app.dataDir])
  assert.equal(end.code, 1)
  assert.match(end.err, /no server runs on this data directory: start one, or give its --url/)
})

test('`web` prints no link for unknown credentials or those that cannot sign in', async (t) => {
  const app = await startTestApp(t, { listen: { host: '0.0.0.0' } })
  await runJson(app.dataDir, 'key', 'create', 'erp')
  const { url } = await runJson<{ url: string }>(app.dataDir, 'web', '--key', 'erp')
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/#login=/)
  await runJson(app.dataDir, 'key', 'create', 'sheet', '--in-url')
  for (const [words, message] of [
    ['--key nothing', /there is no key named nothing: see cambista key list/],
    ['--token nothing', /there is no token named nothing/],
    ['--key sheet', /key sheet was made for URLs or is one of the bank: it does not sign in/],
  ] as const) {
    const end = await runCommand(['web', ...words.split(' '), '--data-dir', app.dataDir])
    assert.equal(end.code, 1)
    assert.match(end.err, message)
    assert.equal(end.out, '')
  }
  const none = await runCommand(['web', '--data-dir', app.dataDir])
  assert.equal(none.code, 2)
  assert.match(none.err, /give --key NAME, --token NAME or both/)
})

test('`web --person` prints a link for 24 hours, and its session has the name', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(NOW) })
  const app = await startTestApp(t, { now: NOW })
  const { url } = app.app
  await makeDirectory(app.dataDir)
  await runJson(app.dataDir, 'key', 'create', 'erp')
  const words = ['web', '--key', 'erp', '--person', 'Ana Mora', '--data-dir', app.dataDir]
  const { err } = await runCommand(words)
  assert.match(err, /^Signs Ana Mora in with key erp, once and within 24 hours:$/m)
  type Link = { url: string; ends_at: string; person: string }
  const link = await runJson<Link>(app.dataDir, ...words.slice(0, -2))
  assert.equal(link.person, 'Ana Mora')
  assert.equal(link.ends_at, '2026-03-25T12:00:00.000Z')
  const code = new URL(link.url).hash.slice('#login='.length)
  const answer = JSON.parse((await ask(`${url}/session/code`, { json: { code } })).body)
  assert.deepEqual([answer.person, answer.remember, answer.ends_at], ['Ana Mora', true, link.ends_at])
  app.clock.now = new Date(Date.parse(link.ends_at) - 1)
  const browser = openBrowser(url, await ask(`${url}/session`, { json: { code } }))
  assert.equal(JSON.parse((await browser.ask('/session')).body).person, 'Ana Mora')
  assert.equal((await ask(`${url}/session`, { json: { code } })).status, 401, 'it is used')
})

test('a link of a person ends after 24 hours', async (t) => {
  const app = await startTestApp(t, { now: new Date().toISOString() })
  await runJson(app.dataDir, 'key', 'create', 'erp')
  const link = await runJson<{ url: string; ends_at: string }>(
    ...([app.dataDir, 'web', '--key', 'erp', '--person', 'Ana'] as const),
  )
  app.clock.now = new Date(link.ends_at)
  const code = new URL(link.url).hash.slice('#login='.length)
  assert.equal((await ask(`${app.app.url}/session`, { json: { code } })).status, 401)
})
