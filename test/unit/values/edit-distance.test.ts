import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance, nearest } from '../src/edit-distance.ts'

const pairs: [string, string, number][] = [
  ['', '', 0],
  ['port', 'port', 0],
  ['', 'port', 4],
  ['prot', 'port', 1],
  ['prt', 'port', 1],
  ['poort', 'port', 1],
  ['pert', 'port', 1],
  ['bakcup_dri', 'backup_dir', 2],
  ['host', 'port', 2],
  ['serve', 'sync', 4],
]
for (const [a, b, edits] of pairs) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)} are ${edits} letters apart, whichever comes first`, () => {
    assert.deepEqual([editDistance(a, b), editDistance(b, a)], [edits, edits])
  })
}

test('the nearest word is the one of the fewest letters, or none when all are too far', () => {
  const known = ['serve', 'sync', 'service', 'series']
  assert.equal(nearest('serv', known, 2), 'serve')
  assert.equal(nearest('servcie', known, 2), 'service')
  assert.equal(nearest('bogus', known, 2), undefined)
  assert.equal(nearest('snyc', known, 0), undefined)
  assert.equal(nearest('', [], 5), undefined)
})
