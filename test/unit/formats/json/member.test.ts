// A member of JSON text is cut out to the letter.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memberText, withMember } from '../../../../src/formats/json/member.ts'
import { createRandom, type Random } from '../../../support/rates/random-bank.ts'

const CASES: [json: string, text: string | undefined][] = [
  ['{"result":1.10}', '1.10'],
  ['{ "result" : 1.10 }', '1.10'],
  ['\ufeff{"a":{"result":1},"result":[1.0,{"result":2}],"b":[{"result":3}]}', '[1.0,{"result":2}]'],
  ['{"result":{"a":"}\\"]","b":[{}]} ,"x":null}', '{"a":"}\\"]","b":[{}]}'],
  ['{"re\\u0073ult":"\\\\"}', '"\\\\"'],
  ['{"x":"result","y":1}', undefined],
  ['{"result":1,"result":2E5}', '2E5'],
  ['{"result":"result","a":"b"}', '"result"'],
  ['{}', undefined],
  ['{"result":  {"n": 12345678901234567890.10,\n "s": "ñ"}\n}', '{"n": 12345678901234567890.10,\n "s": "ñ"}'],
]

for (const [json, text] of CASES) {
  test(`the result of ${JSON.stringify(json)} is ${text}`, () =>
    assert.equal(memberText(json, 'result'), text))
}

test('the text of each member of random objects is the value that a parser reads', () => {
  const random = createRandom(7)
  for (let round = 0; round < 2000; round += 1) {
    const object = Object.fromEntries(['a', 'b', 'result'].map((name) => [name, randomValue(random, 0)]))
    const json = JSON.stringify(object, null, random.int(0, 2))
    for (const [name, value] of Object.entries(object)) {
      assert.deepEqual(JSON.parse(memberText(json, name) ?? ''), value, json)
    }
    const more = withMember(json, 'c', '1.10')
    assert.deepEqual([JSON.parse(more), memberText(more, 'c')], [{ ...object, c: 1.1 }, '1.10'])
  }
})

test('the member of a megabyte in one text is read', () => {
  const text = JSON.stringify('\\"ñ'.repeat(250_000))
  assert.equal(memberText(`{"a":1,"result":${text}}`, 'result'), text)
  const nested = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
  assert.equal(memberText(`{"result":${nested}}`, 'result'), nested)
})

function randomValue(random: Random, depth: number): unknown {
  const kind = random.int(0, depth > 3 ? 4 : 6)
  const text = () =>
    Array.from({ length: random.int(0, 6) }, () => '"\\{}[],: \nñresult'[random.int(0, 17)]).join('')
  if (kind === 0) return null
  if (kind === 1) return random.chance(0.5)
  if (kind === 2) return random.next() * 1e6
  if (kind <= 4) return text()
  if (kind === 5) return Array.from({ length: random.int(0, 4) }, () => randomValue(random, depth + 1))
  return Object.fromEntries(
    Array.from({ length: random.int(0, 4) }, (_, at) => [`${text()}${at}`, randomValue(random, depth + 1)]),
  )
}
