import assert from 'node:assert/strict'
import { test } from 'node:test'
import { H3 } from 'h3'
import * as v from 'valibot'
import type { Api } from '../../../../src/http/endpoint/api.ts'
import { type LazyApis, mountLazy } from '../../../../src/http/endpoint/lazy-apis.ts'
import { RATES_ERRORS } from '../../../../src/http/figures/rates-errors.ts'

const API: Api = {
  prefixes: ['/late'],
  errors: RATES_ERRORS,
  endpoints: [
    {
      ...{ method: 'GET', path: '/late/one', permission: 'open', summary: 'One' },
      answer: v.any(),
      handle: () => ({ body: '' }),
    },
  ],
}

/** An app whose only API is loaded at its first request, with the number of loads. */
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
  const late: LazyApis = {
    prefix: '/late',
    load() {
      loads.push(load())
      return loads.at(-1) as Promise<Api[]>
    },
  }
  const fetch = mountLazy(app, apis, [late])
  const ask = async (path: string) => (await fetch(new Request('http://localhost/'), path)).text()
  return { ask, apis, loads }
}

test('a lazy API is mounted before its first request is answered, once for concurrent requests', async () => {
  const { ask, apis, loads } = lateApp(async () => [API])
  assert.deepEqual(await Promise.all(['/', '/lateness', '/later/one'].map(ask)), ['', '', ''])
  assert.equal(loads.length, 0)
  const answers = await Promise.all(['/late/one', '/late', '/late/none', '/'].map(ask))
  assert.deepEqual(answers, ['/late/one', '/late/one', '/late/one', ''])
  assert.equal(await ask('/late/one'), '/late/one')
  assert.equal(loads.length, 1)
  assert.deepEqual(apis, [API])
})

test('a lazy API is mounted for an escaped path, which the router decodes', async () => {
  const { ask } = lateApp(async () => [API])
  assert.deepEqual([await ask('/%zz'), await ask('/%6Cate/one')], ['', '/late/one'])
})

test('a failed load is retried with the next request', async () => {
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
