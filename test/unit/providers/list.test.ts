import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROVIDERS } from '../../../src/providers/list.ts'

/** Ids in every database since 1.0.0. */
const STORED = { bccr: 1, ecb: 2, banguat: 3, trm: 4, banxico: 5 }

test('each provider has an id and a code of its own', () => {
  for (const name of ['id', 'code'] as const) {
    const values = PROVIDERS.map((provider) => provider[name])
    assert.deepEqual([...new Set<unknown>(values)], values)
  }
})

test('the id of a provider is that of 1.0.0', () => {
  const ids = Object.fromEntries(PROVIDERS.map(({ code, id }) => [code, id]))
  for (const [code, id] of Object.entries(STORED)) assert.equal(ids[code], id, code)
})
