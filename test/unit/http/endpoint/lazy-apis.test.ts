import assert from 'node:assert/strict'
import { test } from 'node:test'
import { H3 } from 'h3'
import * as v from 'valibot'
import type { Api } from '../../../src/http/api/api.ts'
import { get } from '../../../src/http/api/endpoint.ts'
import { type LateApis, mountLate } from '../../../src/http/api/late.ts'
import { RATES_ERRORS } from '../../../src/http/rates/errors.ts'

const API: Api = {
  prefixes: ['/late'],
  errors: RATES_ERRORS,
  endpoints: [
    get({ path: '/late/one', summary: 'One', open: true, answer: v.any(), handle: () => ({ body: '' }) }),
  ],
}

/** An app whose only endpoint is not mounted until it is asked for, and how often that was loaded. */
function lateApp(load: () => Promise<Api[]>) {
  const app = new H3()
  const mounted: string[] = []
  app.all = (path) => {
    mounted.push(String(path))
    return app
  }
  app.fetch = () => new Response(mounted.join())
  const apis: Api[] = []
  const loads: Promise<Api[]>[] = []
  const late: LateApis = {
    prefix: '/late',
    load() {
      loads.push(load())
      return loads.at(-1) as Promise<Api[]>
    },
  }
  const fetch = mountLate(app, apis, [late])
  const ask = async (path: string) => (await fetch(new Request('http://localhost/'), path)).text()
  return { ask, apis, loads }
}

test('an API is mounted before its first request is answered, and once for all that come at once', async () => {
  const { ask, apis, loads } = lateApp(async () => [API])
  assert.deepEqual(await Promise.all(['/', '/lateness', '/later/one'].map(ask)), ['', '', ''])
  assert.equal(loads.length, 0)
  const answers = await Promise.all(['/late/one', '/late', '/late/none', '/'].map(ask))
  assert.deepEqual(answers, ['/late/one', '/late/one', '/late/one', ''])
  assert.equal(await ask('/late/one'), '/late/one')
  assert.equal(loads.length, 1)
  assert.deepEqual(apis, [API])
})

test('what could not be loaded is tried again with the next request', async () => {
  let failing = true
  const { ask, loads } = lateApp(async () => {
    if (failing) throw new Error('no such file')
    return [API]
  })
  await assert.rejects(ask('/late/one'), /no such file/)
  failing = false
  assert.equal(await ask('/late/one'), '/late/one')
  assert.equal(loads.length, 2)
})
