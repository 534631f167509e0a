import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { currentDay } from '../../src/values/dates.ts'
import { directory, run, serve, start } from './executable.ts'

const JANUARY = ['--from', '2026-01-05', '--to', '2026-01-16']
const DOLLAR = '/api/v1/rates/latest?on=2026-01-16'

test('syncs, serves what it has, and still has it after a restart', async (t) => {
  const dataDir = join(directory(t), 'data')
  const bank = await startBank({ token: 'secret', today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const env = { CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_PACE: '0', CAMBISTA_BCCR_TOKEN: 'secret' }
  const synced = await run(t, ['sync', ...JANUARY, '--json', '--data-dir', dataDir], { env })
  assert.equal(synced.code, 0, synced.err)
  assert.equal(JSON.parse(synced.out).status, 'ok')
  const key = await run(t, ['key', 'create', 'erp', '--data-dir', dataDir])
  const headers = { 'x-api-key': key.out.trim() }

  const first = await serve(t, dataDir)
  assert.equal((await fetch(`${first.url}${DOLLAR}`)).status, 401)
  const answer = await fetch(`${first.url}${DOLLAR}`, { headers })
  assert.equal(answer.status, 200)
  const rate = await answer.json()
  assert.equal((await fetch(`${first.url}/openapi.json`)).status, 200)
  const description = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx?WSDL'
  assert.match(await (await fetch(first.url + description)).text(), /<\/wsdl:definitions>$/)
  const { code, err } = await first.ended('SIGTERM')
  assert.equal(code, 0)
  assert.match(err, / stopped\n$/)

  const second = await serve(t, dataDir)
  assert.deepEqual(await (await fetch(`${second.url}${DOLLAR}`, { headers })).json(), rate)
  assert.equal((await second.ended('SIGINT')).code, 0)
})

test('SIGTERM ends a sync that waits for the bank', async (t) => {
  const dataDir = join(directory(t), 'data')
  const requests = new EventTarget()
  const hang = () => {
    requests.dispatchEvent(new Event('request'))
    return 'hang' as const
  }
  const bank = await startBank({ today: () => currentDay(() => new Date()), faults: hang })
  t.after(() => bank.close())
  const env = { CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_PACE: '0' }
  const request = once(requests, 'request')
  const program = start(t, ['sync', ...JANUARY, '--data-dir', dataDir], { env })
  await request
  const { code, out } = await program.ended('SIGTERM')
  assert.equal(code, 1)
  assert.match(out, /^run 1: error, /)
})

test('the demo answers what it proposes, and is gone afterwards', async (t) => {
  const TMPDIR = directory(t)
  const demo = start(t, ['demo', '--port', '0'], { env: { TMPDIR } })
  const key = await demo.says(/X-API-Key: (\w+)/)
  const proposed = await demo.says(/'(http:\S+\/rates\/latest)'/)
  const answer = await fetch(proposed, { headers: { 'x-api-key': key } })
  assert.equal(answer.status, 200)
  assert.equal((await demo.ended('SIGTERM')).code, 0)
  assert.deepEqual(readdirSync(TMPDIR), [])
})

test('a port that is in use ends it with one line', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const words = ['serve', '--no-scheduler', '--port', String(port), '--data-dir', join(directory(t), 'data')]
  assert.deepEqual(await run(t, words), {
    code: 1,
    out: '',
    err: `cambista: cannot listen on 127.0.0.1:${port}: the port is in use: choose another with --port\n`,
  })
})

test('two of them serve beside each other', async (t) => {
  const home = directory(t)
  const env = { TMPDIR: home }
  const both = await Promise.all(['one', 'two'].map((name) => serve(t, join(home, name), { env })))
  for (const { url } of both) assert.equal((await fetch(`${url}/healthz`)).status, 200)
  assert.deepEqual(readdirSync(home).sort(), ['one', 'two'])
  for (const one of both) assert.equal((await one.ended('SIGTERM')).code, 0)
})
