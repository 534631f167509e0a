// Mutations of the examples: whatever arrives, each document could be uploaded.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { validateDocument } from '../../../../src/domain/documents/uploads/faults.ts'
import { readMail } from '../../../../src/formats/mail/mail.ts'

const MAILS = globSync(join(import.meta.dirname, '../../../fixtures/mails/*.eml')).map((path) =>
  readFileSync(path),
)
const ROUNDS = 2000
const SEED = 20260324
const TOKENS = [
  '\r\n',
  '--',
  '=',
  '"',
  ';',
  '\0',
  '\u00ff',
  '=?utf-8?B?',
  '?=',
  "*0*=utf-8''%ff",
  '(',
  '<',
  'multipart/x',
]

test('readMail never throws on a mutated mail, and its documents are valid uploads', async () => {
  const random = createRandom(SEED)
  const outcomes = new Map<string, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const mail = await readMail(new Uint8Array(mutate(MAILS[random(MAILS.length)] as Buffer, random)).buffer)
    const outcome = 'refused' in mail ? mail.refused : 'documents'
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    if ('refused' in mail) continue
    for (const { name, type, bytes } of mail.parts) {
      const fault = validateDocument({ name, mimetype: type, blob: 'good' } as never)
      assert.equal(fault, undefined, `round ${round}: ${JSON.stringify([name, type, fault])}`)
      assert.ok(bytes.length > 0)
      assert.equal(bytes.buffer.byteLength, bytes.length)
    }
    for (const text of [mail.fromText, mail.subject, ...mail.recipients])
      assert.doesNotMatch(text, /[\p{Cc}\p{Cf}]/u)
  }
  assert.ok((outcomes.get('documents') ?? 0) > ROUNDS / 2, JSON.stringify([...outcomes]))
})

/** Changes up to 20 places, most of them in the headers. */
function mutate(mail: Buffer, random: (below: number) => number): Buffer {
  let text = mail.toString('latin1')
  for (let count = random(20) + 1; count > 0; count--) {
    const at = random(random(3) === 0 ? text.length : Math.min(text.length, 900))
    const token = TOKENS[random(TOKENS.length)] ?? ''
    text = text.slice(0, at) + token + text.slice(at + random(4))
  }
  return Buffer.from(text, 'latin1')
}

function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
