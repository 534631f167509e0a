// Drives the executable of the other machine kind under qemu. `npm run test:release` names the executables.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { currentDay } from '../../src/values/dates.ts'
import { directory, run, serve } from '../e2e/executable.ts'

const { CAMBISTA_FOREIGN_EXECUTABLE: executable, CAMBISTA_FOREIGN_ARCH: arch } = process.env
if (!executable) throw new Error('CAMBISTA_FOREIGN_EXECUTABLE is not set: use npm run test:release')
const MACHINES: string = new URL('../../src/packaging/machines.mjs', import.meta.url).href
const { runnerWords }: { runnerWords(arch?: string): string[] | undefined } = await import(MACHINES)
const JANUARY = ['--from', '2026-01-05', '--to', '2026-01-16']
const PATHS = [
  '/api/v1/rates/latest?on=2026-01-16',
  '/api/v1/convert?amount=100&from=EUR&to=CRC&on=2026-01-16',
]

test(`the ${arch} executable syncs, serves, and answers rates as this machine's executable does`, async (t) => {
  const under = runnerWords(arch)
  assert.ok(under, `this machine cannot run ${arch}: node build.mjs --missing`)
  const foreign = { executable, under }
  const dataDir = join(directory(t), 'data')
  const bank = await startBank({ today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const env = { CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_PACE: '0' }
  const sync = await run(t, ['sync', ...JANUARY, '--data-dir', dataDir], { ...foreign, env })
  assert.equal(sync.code, 0, sync.err)
  const headers = {
    'x-api-key': (await run(t, ['key', 'create', 'erp', '--data-dir', dataDir], foreign)).out.trim(),
  }

  const answers = []
  for (const how of [foreign, {}]) {
    const server = await serve(t, dataDir, how)
    for (const path of PATHS) {
      const response = await fetch(`${server.url}${path}`, { headers })
      const body = await response.json()
      assert.equal(response.status, 200, JSON.stringify(body))
      answers.push(body)
    }
    assert.equal((await server.ended('SIGTERM')).code, 0)
  }
  assert.deepEqual(answers.slice(0, PATHS.length), answers.slice(PATHS.length))
  t.diagnostic(`${arch} answered ${JSON.stringify(answers[0])}`)
})
