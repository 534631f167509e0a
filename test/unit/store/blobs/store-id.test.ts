// The record of a database's lineage in its blob store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareLineage, formatStoreMark, parseStoreMark } from '../../../../src/store/blobs/store-id.ts'

const ID = '1a0c3f5e-0000-4000-8000-000000000000'

test('a store mark is the id alone, or the id and the lineage', () => {
  const whole = { id: ID, lineage: { epoch: 'e', generation: 3, timeline: 2 } }
  const withoutTimeline = { id: ID, lineage: { epoch: 'e', generation: 3 } }
  for (const mark of [{ id: ID }, whole, withoutTimeline]) {
    assert.deepEqual(parseStoreMark(formatStoreMark(mark)), mark)
  }
  assert.equal(formatStoreMark(whole), `${ID} e 3 2`)
  assert.equal(formatStoreMark(withoutTimeline), `${ID} e 3 -`)
  assert.deepEqual(parseStoreMark(`${ID} e 3 2 of-a-later-version`), whole)
})

test('compareLineage orders by generation, and by timeline where two renewals have the same one', () => {
  const mark = { epoch: 'a', generation: 2, timeline: 5 }
  assert.equal(compareLineage(mark, { epoch: 'a', generation: 2, timeline: 5 }), 'same')
  assert.equal(compareLineage(mark, { epoch: 'b', generation: 3, timeline: 6 }), 'earlier')
  assert.equal(compareLineage(mark, { epoch: 'b', generation: 1, timeline: 4 }), 'later', 'a former primary')
  assert.equal(compareLineage(mark, { epoch: 'b', generation: 2, timeline: 5 }), 'later', 'another copy')
  assert.equal(compareLineage(mark, { epoch: 'b', generation: 2 }), 'later', 'without a timeline')
  assert.equal(compareLineage(mark, { epoch: 'b', generation: 1, timeline: 6 }), 'overtaken')
  assert.equal(compareLineage(undefined, { epoch: 'a', generation: 0, timeline: 1 }), 'same', 'never renewed')
  assert.equal(compareLineage(undefined, { epoch: 'a', generation: 1, timeline: 2 }), 'earlier')
  assert.equal(compareLineage(mark, undefined), 'same', 'not polled yet')
})
