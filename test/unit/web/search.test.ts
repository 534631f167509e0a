import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesQuery } from '../../../src/web/model/search.ts'

test('matches ignores accents, case and order', () => {
  const names = ['JPY', 'Yen Japonés', 'Japanese Yen']
  for (const query of ['', 'japones', 'JAPONÉS', 'jap yen', 'jpy', 'yen japonés'])
    assert.ok(matchesQuery(query, names), query)
  for (const query of ['euro', 'yenes', 'pon', 'jpy euro']) assert.ok(!matchesQuery(query, names), query)
  assert.ok(matchesQuery('cordoba', ['Córdoba nicaragüense']))
  assert.ok(matchesQuery('nicaraguense', ['Córdoba nicaragüense']))
})
