import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { mailKey } from '../../../../src/domain/mail/mail-key.ts'

const [A, B] = ['a', 'b'].map((text) => createHash('sha256').update(text).digest('hex'))
const PARTS = [A ?? '', B ?? '']

test('mailKey is the same for parts in any order', () => {
  assert.match(mailKey(1, '<1@a>', PARTS), /^[0-9a-f]{64}$/)
  assert.equal(mailKey(1, '<1@a>', PARTS), mailKey(1, '<1@a>', PARTS.toReversed()))
})

test('mailKey is that of 1.0.0 without an agent', () => {
  assert.equal(mailKey(1, '<1@a>', PARTS), '6a1c9b0653ba6ff92b9ceca156ff824c3fa2ee98c014952d93bda75b16b3d9f3')
})

test('mailKey differs by mailbox, Message-ID, parts and agent', () => {
  const keys = [
    mailKey(1, '<1@a>', PARTS),
    mailKey(2, '<1@a>', PARTS),
    mailKey(1, '<2@a>', PARTS),
    mailKey(1, null, PARTS),
    mailKey(1, 'null', PARTS),
    mailKey(1, `<1@a>","${A}`, PARTS.slice(1)),
    mailKey(1, '<1@a>', PARTS.slice(1)),
    mailKey(1, '<1@a>', [...PARTS, A ?? '']),
    mailKey(1, '<1@a>', PARTS, 'own'),
    mailKey(1, '<1@a>', PARTS, 1),
    mailKey(1, '<1@a>', PARTS, 2),
  ]
  assert.equal(new Set(keys).size, keys.length)
})
