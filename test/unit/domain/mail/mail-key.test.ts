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

test('mailKey differs by mailbox, Message-ID and parts', () => {
  const keys = [
    mailKey(1, '<1@a>', PARTS),
    mailKey(2, '<1@a>', PARTS),
    mailKey(1, '<2@a>', PARTS),
    mailKey(1, null, PARTS),
    mailKey(1, 'null', PARTS),
    mailKey(1, `<1@a>","${A}`, PARTS.slice(1)),
    mailKey(1, '<1@a>', PARTS.slice(1)),
    mailKey(1, '<1@a>', [...PARTS, A ?? '']),
  ]
  assert.equal(new Set(keys).size, keys.length)
})
