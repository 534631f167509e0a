// The examples of `cambista manual guides` in PHP, Java and C#, compiled and run as printed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listGuideExamples, runGuides } from '../examples/guides.ts'

const LANGUAGES = ['php', 'java', 'csharp']

test('the examples of the guides in PHP, Java and C# run as printed', async (t) => {
  const { app, results } = await runGuides(t, LANGUAGES)
  const { result } = await app.json<{ result: string }>(
    '/api/v1/convert?amount=1234.56&from=USD&to=CRC&on=2026-03-20&decimals=2',
  )
  const run = results.filter(({ language }) => language !== 'sh')
  const printed = listGuideExamples().filter(({ language }) => LANGUAGES.includes(language))
  assert.equal(run.length, printed.length)
  const amounts = run.filter(({ code }) => code.includes('1234.56'))
  assert.deepEqual(
    amounts.map(({ output }) => output.trim()),
    LANGUAGES.map(() => result),
  )
})
