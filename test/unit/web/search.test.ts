import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matches } from '../../../src/web/model/search.ts'

test('matches ignores accents, case and order', () => {
  const names = ['JPY', 'Yen Japonés', 'Japanese Yen']
  for (const query of ['', 'japones', 'JAPONÉS', 'jap yen', 'jpy', 'yen japonés'])
    assert.ok(matches(query, names), query)
  for (const query of ['euro', 'yenes', 'pon', 'jpy euro']) assert.ok(!matches(query, names), query)
  assert.ok(matches('cordoba', ['Córdoba nicaragüense']))
  assert.ok(matches('nicaraguense', ['Córdoba nicaragüense']))
})
