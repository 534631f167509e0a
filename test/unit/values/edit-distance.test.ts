import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance, nearest } from '../../../src/values/edit-distance.ts'

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
  test(`editDistance of ${JSON.stringify(a)} and ${JSON.stringify(b)} is ${edits} in both directions`, () => {
    assert.deepEqual([editDistance(a, b), editDistance(b, a)], [edits, edits])
  })
}

test('nearest returns the word with the fewest edits, or undefined over the limit', () => {
  const words = ['serve', 'sync', 'service', 'series']
  assert.equal(nearest('serv', words, 2), 'serve')
  assert.equal(nearest('servcie', words, 2), 'service')
  assert.equal(nearest('bogus', words, 2), undefined)
  assert.equal(nearest('snyc', words, 0), undefined)
  assert.equal(nearest('', [], 5), undefined)
})
