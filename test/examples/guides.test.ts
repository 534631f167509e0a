// The examples of `cambista manual guides` in shell, Python and JavaScript, run as printed. The
// others run in test/clients/guides.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listGuideExamples, runGuides } from './guides.ts'

const LANGUAGES = ['sh', 'python', 'js']

test('the guides have the same examples in English and Spanish', () => {
  const codes = (language: 'en' | 'es') => listGuideExamples(language).map(({ code }) => code)
  assert.ok(codes('en').length >= 15)
  assert.deepEqual(codes('es'), codes('en'))
})

test('the examples of the guides in shell, Python and JavaScript run as printed', async (t) => {
  const { app, results } = await runGuides(t, LANGUAGES)
  const outputs = (language: string) =>
    results.filter((one) => one.language === language).map(({ output }) => output.trim())
  const { result } = await app.json<{ result: string }>(
    '/api/v1/convert?amount=1234.56&from=USD&to=CRC&on=2026-03-20&decimals=2',
  )
  const [python, days, list, claims, , errors] = outputs('python')
  assert.deepEqual([python, outputs('js')[0]], [result, result])
  assert.match(days ?? '', /^EUR\/USD [\d.]+ of 2026-03-20 exact\nUSD\/CRC .*\nfuture\n404 /)
  assert.equal(list, '')
  assert.equal(claims, '1 done\n2 done\n3 done\n4 done')
  assert.match(errors ?? '', /^[\d.]+\n422: .*there is no parameter dec/)
  const shell = outputs('sh')
  const [, asOf, , uploads, twice] = shell
  assert.match(shell[0] ?? '', /"pair":"USD\/CRC".*"result":"/s)
  assert.match(asOf ?? '', /"result":"\d+".*"revisions":\[\]/s)
  assert.equal(uploads?.match(/"total_created":1/g)?.length, 3)
  assert.deepEqual(twice?.match(/"created_documents":\[\{"id":4/g)?.length, 2)
})
